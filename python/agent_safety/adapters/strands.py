"""Guards agents of Strands: prompts, tool calls, tool results and answers. Needs strands-agents 1.20 or later.

    from strands import Agent
    from agent_safety.adapters.strands import GuardHooks

    hooks = GuardHooks()
    agent = Agent(model=model, tools=[look_up], hooks=[hooks])
    result = agent("What is the weather?")

The model receives a notice that the call was blocked; a blocked prompt or answer raises `BlockedError`. A callback
handler and `stream_async` show each text of the model when it is whole and checked.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from strands.hooks import (
    AfterModelCallEvent,
    AfterToolCallEvent,
    BeforeInvocationEvent,
    BeforeModelCallEvent,
    BeforeToolCallEvent,
    HookProvider,
    HookRegistry,
)

from .. import BlockedError, Guard, default_guard
from ..tools import refusal_text


class GuardHooks(HookProvider):
    """The hooks of one agent. They also run in agents that are tools of it, if those have them."""

    def __init__(self, guard: Guard | None = None) -> None:
        self.guard = guard or default_guard("strands")

    def register_hooks(self, registry: HookRegistry, **_: Any) -> None:
        """Register the hooks. Strands calls it."""
        registry.add_callback(BeforeInvocationEvent, self._before_invocation)
        registry.add_callback(BeforeModelCallEvent, self._before_model)
        registry.add_callback(AfterModelCallEvent, self._after_model)
        registry.add_callback(BeforeToolCallEvent, self._before_tool)
        registry.add_callback(AfterToolCallEvent, self._after_tool)

    async def _before_invocation(self, event: BeforeInvocationEvent) -> None:
        for message in event.messages or []:
            if message["role"] == "user":
                await self._check_texts(message["content"], self.guard.aio.protect.input)

    def _before_model(self, event: BeforeModelCallEvent) -> None:
        # At each call, because a program or a router may have set another model.
        if not _is_held(event.agent.model):
            event.agent.model = _hold_stream(event.agent.model, self.guard)

    async def _after_model(self, event: AfterModelCallEvent) -> None:
        # The stream of a held model was checked already.
        if event.stop_response is not None and not _is_held(event.agent.model):
            await self._check_texts(event.stop_response.message["content"], self.guard.aio.protect.output)

    async def _before_tool(self, event: BeforeToolCallEvent) -> None:
        use = event.tool_use
        try:
            use["input"] = await self.guard.aio.protect.tool(use["name"], use["input"])
        except BlockedError as error:
            event.cancel_tool = refusal_text(error)
        except Exception:
            event.cancel_tool = "Refused: a fault in the guard."

    async def _after_tool(self, event: AfterToolCallEvent) -> None:
        if event.cancel_message is not None:
            return
        name = event.tool_use["name"]
        try:
            content = await self.guard.aio.protect.tool_result(name, event.result["content"])
            event.result = {**event.result, "content": content}
        except BlockedError as error:
            event.result = {**event.result, "status": "error", "content": [{"text": refusal_text(error)}]}

    async def _check_texts(self, blocks: Any, check: Any) -> None:
        for block in blocks:
            if isinstance(block.get("text"), str) and block["text"]:
                block["text"] = await check(block["text"])


def _is_held(model: Any) -> bool:
    return getattr(type(model), "holds_stream_for_agent_safety", False)


def _hold_stream(model: Any, guard: Guard) -> Any:
    """Return a view of a model, with the same state, whose stream holds each text until it is checked."""
    own = type(model)

    async def stream(self: Any, *args: Any, **options: Any) -> AsyncIterator[Any]:
        async for event in _check_texts_of(own.stream(self, *args, **options), guard):
            yield event

    held = type(own.__name__, (own,), {"stream": stream, "holds_stream_for_agent_safety": True})
    view: Any = object.__new__(held)
    view.__dict__ = model.__dict__
    return view


async def _check_texts_of(events: AsyncIterator[Any], guard: Guard) -> AsyncIterator[Any]:
    held: list[str] = []
    async for event in events:
        delta = event.get("contentBlockDelta", {}).get("delta", {})
        if "text" in delta:
            held.append(delta["text"])
            continue
        if held:
            text = await guard.aio.protect.output("".join(held))
            held.clear()
            yield {"contentBlockDelta": {"delta": {"text": text}}}
        yield event
    if held:
        yield {"contentBlockDelta": {"delta": {"text": await guard.aio.protect.output("".join(held))}}}
