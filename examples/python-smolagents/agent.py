"""An agent of smolagents whose model calls a tool with a secret. The model is scripted, so no network is needed."""

from customshouse.adapters.smolagents import guarded_tools, run
from scripted_model import model
from smolagents import ToolCallingAgent, tool

sent = []


@tool
def send(key: str) -> str:
    """Sends a key.

    Args:
        key: The key.
    """
    sent.append(key)
    return "sent"


agent = ToolCallingAgent(tools=guarded_tools([send]), model=model, verbosity_level=-1)
answer = run(agent, "Send the key.")

assert sent == [], "the tool ran"
assert answer == "I could not, write to [REDACTED]."
print(f"The call was blocked, so the tool ran {len(sent)} times. The answer: {answer}")
