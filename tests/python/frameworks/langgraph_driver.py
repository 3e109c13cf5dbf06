import asyncio

from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import tools_condition
from scenario import play
from agent_safety.adapters.langgraph import GuardNodes


def ask(seen, question, arguments, result, answer):
    @tool
    def look_up(city: str) -> str:
        """Looks something up."""
        seen["ran_with"].append(city)
        return result

    def model(state):
        last = state["messages"][-1]
        seen["question"] = state["messages"][0].text
        if isinstance(last, ToolMessage):
            seen["result"] = last.text
        if arguments is not None and not isinstance(last, ToolMessage):
            return {"messages": [AIMessage("", tool_calls=[{"name": "look_up", "args": arguments, "id": "c1"}])]}
        return {"messages": [AIMessage(answer)]}

    nodes = GuardNodes()
    graph = StateGraph(MessagesState)
    graph.add_node("check_input", nodes.check_input)
    graph.add_node("model", model)
    graph.add_node("tools", nodes.tool_node([look_up]))
    graph.add_node("check_output", nodes.check_output)
    graph.add_edge(START, "check_input")
    graph.add_edge("check_input", "model")
    graph.add_conditional_edges("model", tools_condition, {"tools": "tools", END: "check_output"})
    graph.add_edge("tools", "model")
    graph.add_edge("check_output", END)
    state = asyncio.run(graph.compile().ainvoke({"messages": [("user", question)]}))
    seen["answer"] = state["messages"][-1].text


play(ask)
