"""Guards agents of AG2: prompts, tool calls, tool results and answers. Needs ag2 1.0 or later.

    from ag2 import Agent
    from customshouse.adapters.ag2 import guard_middleware

    agent = Agent("helper", config=config, tools=[look_up], middleware=[guard_middleware()])

The model receives a notice that the call was blocked; a blocked prompt or answer raises `BlockedError`. Subscribers
and observers see each text of the model when it is whole and checked. A message of another agent arrives as a prompt,
so that it is checked too. So is what is enqueued while an agent works.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from ag2.events import ModelMessage, ModelMessageChunk, ModelReasoning, ModelRequest, ModelResponse, ToolResultEvent
from ag2.middleware import BaseMiddleware, Middleware

from .. import BlockedError, Guard, default_guard
from ..tools import refusal_text
from ._held_calls import held_calls
from ._shown import ShownTexts


def guard_middleware(guard: Guard | None = None) -> Any:
    """Return the middleware of a guard, for `Agent(middleware=[...])`."""
    return Middleware(_GuardMiddleware, guard=guard or default_guard("ag2"))


class _GuardMiddleware(BaseMiddleware):
    def __init__(self, event: Any, context: Any, guard: Guard) -> None:
        super().__init__(event, context)
        self._guard = guard
        self._asked: list[Any] = []

    async def on_turn(self, call_next: Any, event: Any, context: Any) -> Any:
        """Check what people and other agents have said."""
        await self._check_request(event)
        return await call_next(event, context)

    async def on_llm_call(self, call_next: Any, events: Any, context: Any) -> Any:
        """Check what was enqueued meanwhile, and the texts of the model before any subscriber sees them."""
        for event in reversed(events):
            if isinstance(event, ModelResponse):
                break
            await self._check_request(event)
        stream = _HeldStream(context.stream)
        response = await call_next(events, replace(context, stream=stream))
        texts = ShownTexts(self._guard)
        message = response.message
        if message is not None and message.content:
            message.content = await texts.check(message.content)
        for call in response.tool_calls.calls if response.tool_calls else ():
            held = await held_calls(self._guard).ahold_json(call.id, call.name, call.arguments)
            if held != call.arguments:
                _set_arguments(call, held)
        for event in _join(stream.held):
            if event.content:
                event.content = await texts.check(event.content)
            await context.send(event)
        return response

    async def on_tool_execution(self, call_next: Any, event: Any, context: Any) -> Any:
        """Check a call before it runs, and its result."""
        try:
            arguments = json.loads(event.arguments or "{}")
            allowed = await held_calls(self._guard).adecide(event.id, event.name, arguments)
            if allowed != arguments:
                _set_arguments(event, json.dumps(allowed))
            result = await call_next(event, context)
            if isinstance(result, ToolResultEvent):
                parts = result.result.parts
                parts[:] = [await self._part(each, self._result_of(event.name)) for each in parts]
            return result
        except BlockedError as error:
            return ToolResultEvent.from_call(event, refusal_text(error))

    async def _check_request(self, event: Any) -> None:
        """Check each part of a request once in a turn."""
        if isinstance(event, ModelRequest):
            for part in event.parts:
                if not any(part is each for each in self._asked):
                    self._asked.append(await self._part(part, self._guard.aio.protect.input))

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


def _set_arguments(call: Any, arguments: Any) -> None:
    call.arguments = arguments
    call._serialized_arguments = None


class _HeldStream:
    """The stream that a model writes to. It holds the texts of the model, and sends all other events."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.held: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def send(self, event: Any, context: Any) -> None:
        if isinstance(event, (ModelMessage, ModelMessageChunk, ModelReasoning)):
            self.held.append(event)
        else:
            await self._stream.send(event, context)


def _join(held: list[Any]) -> list[Any]:
    """Return the events with the pieces of a text in the first of them. A piece alone cannot be judged."""
    joined: dict[type, Any] = {}
    events: list[Any] = []
    for event in held:
        first = joined.get(type(event))
        if first is not None:
            first.content += event.content
            continue
        if type(event) in (ModelMessageChunk, ModelReasoning):
            joined[type(event)] = event
        events.append(event)
    return events
