"""An agent of AutoGen whose model calls a tool with a secret. The model is scripted, so no network is needed."""

import asyncio

from customshouse.adapters.autogen import guarded_model, guarded_tools
from autogen_agentchat.agents import AssistantAgent
from scripted_model import model

sent = []


async def send(key: str) -> str:
    """Sends a key."""
    sent.append(key)
    return "sent"


agent = AssistantAgent(
    "helper",
    model_client=guarded_model(model),
    tools=guarded_tools([send]),
    reflect_on_tool_use=True,
)
result = asyncio.run(agent.run(task="Send the key."))
answer = result.messages[-1].content

assert sent == [], "the tool ran"
assert answer == "I could not, write to [REDACTED]."
print(f"The call was blocked, so the tool ran {len(sent)} times. The answer: {answer}")
