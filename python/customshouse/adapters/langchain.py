"""Guards agents of LangChain: prompts, tool calls, tool results and answers. Needs langchain 1.0 or later.

    from langchain.agents import create_agent
    from customshouse.adapters.langchain import GuardMiddleware

    agent = create_agent(model, tools, middleware=[GuardMiddleware()])

The model receives a notice that the call was blocked; a blocked prompt or answer raises `BlockedError`. `stream`,
`astream` and `astream_events` show an answer and its reasoning when they are whole and checked: in the events of chains and
nodes, because the model's own (`on_chat_model_stream`) do not come. Callbacks and tracers, such as LangSmith, receive
the checked answer. Messages hold no arguments of a refused call that an answer could not show.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware

from .. import Guard, default_guard
from ._chat_model import guard_chat_model
from ._messages import (
    KnownAnswers,
    acheck_input,
    acheck_output,
    acheck_tool_call,
    check_input,
    check_output,
    check_tool_call,
    without_tokens,
)
from ._prompts import PromptTexts


class GuardMiddleware(AgentMiddleware):
    """Middleware for `create_agent`. One guard is one session: make one for each conversation."""

    def __init__(self, guard: Guard | None = None) -> None:
        super().__init__()
        self.guard = guard or default_guard("langchain")
        self._prompts = PromptTexts(self.guard)

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any]:
        """Check what people have said, each text once."""
        return {"messages": check_input(self._prompts, state["messages"])}

    async def abefore_model(self, state: Any, runtime: Any) -> dict[str, Any]:
        """Check as `before_model` does."""
        return {"messages": await acheck_input(self._prompts, state["messages"])}

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Check the answer of the model before any stream, callback or tracer shows it."""
        known = KnownAnswers()
        model = guard_chat_model(request.model, self.guard, known)
        with without_tokens({}):
            response = handler(request.override(model=model))
        return check_output(self.guard, response, known)

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Check as `wrap_model_call` does."""
        known = KnownAnswers()
        model = guard_chat_model(request.model, self.guard, known)
        with without_tokens({}):
            response = await handler(request.override(model=model))
        return await acheck_output(self.guard, response, known)

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Check a call before it runs, and its result."""
        return check_tool_call(self.guard, request, handler)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Check as `wrap_tool_call` does."""
        return await acheck_tool_call(self.guard, request, handler)
