"""Guards agents of AG2: prompts, tool calls, tool results and answers. Needs ag2 1.0 or later.

    from ag2 import Agent
    from agent_safety.adapters.ag2 import guard_middleware

    agent = Agent("helper", config=config, tools=[look_up], middleware=[guard_middleware()])

The model receives a notice that the call was blocked; a blocked prompt or answer raises `BlockedError`. A message of
another agent arrives as a prompt, so that it is checked too.
"""

from __future__ import annotations

import json
from typing import Any

from ag2.events import ModelRequest, ToolResultEvent
from ag2.middleware import BaseMiddleware, Middleware

from .. import BlockedError, Guard, default_guard
from ..tools import refusal_text


def guard_middleware(guard: Guard | None = None) -> Any:
    """Return the middleware of a guard, for `Agent(middleware=[...])`."""
    return Middleware(_GuardMiddleware, guard=guard or default_guard("ag2"))


class _GuardMiddleware(BaseMiddleware):
    def __init__(self, event: Any, context: Any, guard: Guard) -> None:
        super().__init__(event, context)
        self._guard = guard

    async def on_turn(self, call_next: Any, event: Any, context: Any) -> Any:
        """Check what people and other agents have said."""
        if isinstance(event, ModelRequest):
            event.parts[:] = [await self._part(each, self._guard.aio.protect.input) for each in event.parts]
        return await call_next(event, context)

    async def on_llm_call(self, call_next: Any, events: Any, context: Any) -> Any:
        """Check the answer of the model."""
        response = await call_next(events, context)
        if response.message is not None and response.message.content:
            response.message.content = await self._guard.aio.protect.output(response.message.content)
        return response

    async def on_tool_execution(self, call_next: Any, event: Any, context: Any) -> Any:
        """Check a call before it runs, and its result."""
        try:
            arguments = json.loads(event.arguments or "{}")
            allowed = await self._guard.aio.protect.tool(event.name, arguments)
            if allowed != arguments:
                event.arguments = json.dumps(allowed)
                event._serialized_arguments = None
            result = await call_next(event, context)
            if isinstance(result, ToolResultEvent):
                parts = result.result.parts
                parts[:] = [await self._part(each, self._result_of(event.name)) for each in parts]
            return result
        except BlockedError as error:
            return ToolResultEvent.from_call(event, refusal_text(error))

    def _result_of(self, name: str) -> Any:
        async def check(value: Any) -> Any:
            return await self._guard.aio.protect.tool_result(name, value)

        return check

    async def _part(self, part: Any, check: Any) -> Any:
        for member in ("content", "data"):
            value = getattr(part, member, None)
            if isinstance(value, str) or (member == "data" and isinstance(value, (dict, list))):
                setattr(part, member, await check(value))
        return part
