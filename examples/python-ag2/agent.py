"""An agent of AG2 whose model calls a tool with a secret. The model is scripted, so no network is needed."""

import asyncio

from ag2 import Agent
from customshouse.adapters.ag2 import guard_middleware
from scripted_model import config

sent = []


def send(key: str) -> str:
    """Sends a key."""
    sent.append(key)
    return "sent"


agent = Agent("helper", config=config, tools=[send], middleware=[guard_middleware()])
reply = asyncio.run(agent.ask("Send the key."))
answer = reply.body

assert sent == [], "the tool ran"
assert answer == "I could not, write to [REDACTED]."
print(f"The call was blocked, so the tool ran {len(sent)} times. The answer: {answer}")
