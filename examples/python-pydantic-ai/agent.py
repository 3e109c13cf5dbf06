"""An agent of Pydantic AI whose model calls a tool with a secret. The model is scripted, so no network is needed."""

from customshouse.adapters.pydantic_ai import GuardCapability
from pydantic_ai import Agent
from scripted_model import model

sent = []


def send(key: str) -> str:
    """Sends a key."""
    sent.append(key)
    return "sent"


agent = Agent(model, tools=[send], capabilities=[GuardCapability()])
answer = agent.run_sync("Send the key.").output

assert sent == [], "the tool ran"
assert answer == "I could not, write to [REDACTED]."
print(f"The call was blocked, so the tool ran {len(sent)} times. The answer: {answer}")
