"""An agent of LangGraph whose model calls a tool with a secret. The model is scripted, so no network is needed."""

from customshouse.adapters.langgraph import GuardNodes
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import tools_condition
from scripted_model import model

sent = []


def send(key: str) -> str:
    """Sends a key."""
    sent.append(key)
    return "sent"


def call_model(state):
    return {"messages": [model.invoke(state["messages"])]}


nodes = GuardNodes()
graph = StateGraph(MessagesState)
graph.add_node("check_input", nodes.check_input)
graph.add_node("model", nodes.model_node(call_model))
graph.add_node("tools", nodes.tool_node([send]))
graph.add_edge(START, "check_input")
graph.add_edge("check_input", "model")
graph.add_conditional_edges("model", tools_condition)
graph.add_edge("tools", "model")
state = graph.compile().invoke({"messages": [("user", "Send the key.")]})
answer = state["messages"][-1].text

assert sent == [], "the tool ran"
assert answer == "I could not, write to [REDACTED]."
print(f"The call was blocked, so the tool ran {len(sent)} times. The answer: {answer}")
