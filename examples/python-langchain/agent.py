"""An agent of LangChain whose model calls a tool with a secret. The model is scripted, so no network is needed."""

from customshouse.adapters.langchain import GuardMiddleware
from langchain.agents import create_agent
from scripted_model import model

sent = []


def send(key: str) -> str:
    """Sends a key."""
    sent.append(key)
    return "sent"


agent = create_agent(model, [send], middleware=[GuardMiddleware()])
state = agent.invoke({"messages": [{"role": "user", "content": "Send the key."}]})
answer = state["messages"][-1].text

assert sent == [], "the tool ran"
assert answer == "I could not, write to [REDACTED]."
print(f"The call was blocked, so the tool ran {len(sent)} times. The answer: {answer}")
