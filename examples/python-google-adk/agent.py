"""An agent of Google ADK whose model calls a tool with a secret. The model is scripted, so no network is needed."""

import asyncio

from customshouse.adapters.google_adk import GuardPlugin
from google.adk.agents import LlmAgent
from google.adk.runners import InMemoryRunner
from scripted_model import model

sent = []


def send(key: str) -> str:
    """Sends a key."""
    sent.append(key)
    return "sent"


agent = LlmAgent(name="helper", model=model, tools=[send])
runner = InMemoryRunner(agent=agent, app_name="mail", plugins=[GuardPlugin()])
events = asyncio.run(runner.run_debug("Send the key.", quiet=True))
answer = events[-1].content.parts[0].text

assert sent == [], "the tool ran"
assert answer == "I could not, write to [REDACTED]."
print(f"The call was blocked, so the tool ran {len(sent)} times. The answer: {answer}")
