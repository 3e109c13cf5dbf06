"""An agent of the OpenAI Agents SDK whose model calls a tool with a secret. The model is scripted, so no network is needed."""

import asyncio

from customshouse.adapters.openai_agents import run
from agents import Agent, function_tool
from scripted_model import model

sent = []


@function_tool
def send(key: str) -> str:
    """Sends a key."""
    sent.append(key)
    return "sent"


agent = Agent(name="helper", model=model, tools=[send])
result = asyncio.run(run(agent, "Send the key."))
answer = result.final_output

assert sent == [], "the tool ran"
assert answer == "I could not, write to [REDACTED]."
print(f"The call was blocked, so the tool ran {len(sent)} times. The answer: {answer}")
