"""Guards agents of LangChain: prompts, tool calls, tool results and answers. Needs langchain 1.0 or later.

    from langchain.agents import create_agent
    from agent_safety.adapters.langchain import GuardMiddleware

    agent = create_agent(model, tools, middleware=[GuardMiddleware()])

The model receives a notice that the call was blocked; a blocked prompt or answer raises `BlockedError`. Tokens that a
model streams are shown as they come; take `invoke`, or the messages of `stream(stream_mode="updates")`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware

from .. import Guard, default_guard
from ._messages import (
    acheck_input,
    acheck_output,
    acheck_tool_call,
    check_input,
    check_output,
    check_tool_call,
)


class GuardMiddleware(AgentMiddleware):
    """Middleware for `create_agent`. One guard is one session: make one for each conversation."""

    def __init__(self, guard: Guard | None = None) -> None:
        super().__init__()
        self.guard = guard or default_guard("langchain")

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any]:
        """Check what people have said since the model last answered."""
        return {"messages": check_input(self.guard, state["messages"])}

    async def abefore_model(self, state: Any, runtime: Any) -> dict[str, Any]:
        """Check as `before_model` does."""
        return {"messages": await acheck_input(self.guard, state["messages"])}

    def after_model(self, state: Any, runtime: Any) -> dict[str, Any]:
        """Check the answer of the model."""
        return {"messages": check_output(self.guard, state["messages"])}

    async def aafter_model(self, state: Any, runtime: Any) -> dict[str, Any]:
        """Check as `after_model` does."""
        return {"messages": await acheck_output(self.guard, state["messages"])}

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Check a call before it runs, and its result."""
        return check_tool_call(self.guard, request, handler)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Check as `wrap_tool_call` does."""
        return await acheck_tool_call(self.guard, request, handler)
