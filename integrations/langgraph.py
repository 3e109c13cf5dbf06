"""Guards a graph of LangGraph: nodes for what is asked and answered, and a node that runs tools.

    from service_langgraph import check_input, check_output, guarded_tools

    graph.add_node("check_input", check_input)      # before the model
    graph.add_node("tools", guarded_tools(tools))   # in place of ToolNode(tools)
    graph.add_node("check_output", check_output)    # behind the model

A call that is refused is told to the model as a failed one; a question or an answer that is refused raises Refused.
Needs langgraph 1.0 or later. This file is yours to change.
"""

from messages import Guard, Refused, allowed_request, checked_input, checked_output, checked_result, refusal

import asyncio

from langgraph.prebuilt import ToolNode

guard = Guard(agent_id="langgraph")


def check_input(state):
    """A node: what people have said may enter, masked where a rule says so."""
    return {"messages": checked_input(guard, state["messages"])}


def check_output(state):
    """A node: what the model has said may leave, masked where a rule says so."""
    return {"messages": checked_output(guard, state["messages"])}


def guarded_tools(tools, **options):
    """A ToolNode in which every call and every result is judged."""

    def call_tool(request, handler):
        try:
            allowed = allowed_request(guard, request)
        except Refused as refused:
            return refusal(request.tool_call, refused)
        return checked_result(guard, request.tool_call, handler(allowed))

    async def acall_tool(request, handler):
        try:
            allowed = await asyncio.to_thread(allowed_request, guard, request)
        except Refused as refused:
            return refusal(request.tool_call, refused)
        result = await handler(allowed)
        return await asyncio.to_thread(checked_result, guard, request.tool_call, result)

    return ToolNode(tools, wrap_tool_call=call_tool, awrap_tool_call=acall_tool, **options)
