"""Guards graphs of LangGraph: nodes for prompts and answers, and a node that runs tools. Needs langgraph 1.0 or later.

    from agent_safety.adapters.langgraph import GuardNodes

    nodes = GuardNodes()
    graph.add_node("check_input", nodes.check_input)     # before the model
    graph.add_node("tools", nodes.tool_node(tools))      # in place of ToolNode(tools)
    graph.add_node("check_output", nodes.check_output)   # behind the model

The model receives a notice that the call was blocked; a blocked prompt or answer raises `BlockedError`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain_core.runnables import RunnableLambda
from langgraph.prebuilt import ToolNode

from .. import Guard, default_guard
from ._messages import (
    acheck_input,
    acheck_output,
    acheck_tool_call,
    check_input,
    check_output,
    check_tool_call,
)


class GuardNodes:
    """The nodes of one conversation."""

    def __init__(self, guard: Guard | None = None) -> None:
        own = self.guard = guard or default_guard("langgraph")

        def input_node(state: Any) -> Any:
            return {"messages": check_input(own, state["messages"])}

        async def ainput_node(state: Any) -> Any:
            return {"messages": await acheck_input(own, state["messages"])}

        def output_node(state: Any) -> Any:
            return {"messages": check_output(own, state["messages"])}

        async def aoutput_node(state: Any) -> Any:
            return {"messages": await acheck_output(own, state["messages"])}

        self.check_input = RunnableLambda(input_node, ainput_node)
        """A node that checks what people have said since the model last answered."""
        self.check_output = RunnableLambda(output_node, aoutput_node)
        """A node that checks the answer of the model."""

    def tool_node(self, tools: Sequence[Any], **options: Any) -> Any:
        """Return a `ToolNode` in which every call and every result is checked."""

        def call(request: Any, handler: Callable[[Any], Any]) -> Any:
            return check_tool_call(self.guard, request, handler)

        async def acall(request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
            return await acheck_tool_call(self.guard, request, handler)

        return ToolNode(tools, wrap_tool_call=call, awrap_tool_call=acall, **options)
