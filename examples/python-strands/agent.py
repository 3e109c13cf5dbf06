"""An agent of Strands whose model calls a tool with a secret. The model is scripted, so no network is needed."""

from customshouse.adapters.strands import GuardHooks
from scripted_model import model
from strands import Agent, tool

sent = []


@tool
def send(key: str) -> str:
    """Sends a key."""
    sent.append(key)
    return "sent"


agent = Agent(model=model, tools=[send], hooks=[GuardHooks()], callback_handler=None)
answer = str(agent("Send the key.")).strip()

assert sent == [], "the tool ran"
assert answer == "I could not, write to [REDACTED]."
print(f"The call was blocked, so the tool ran {len(sent)} times. The answer: {answer}")
