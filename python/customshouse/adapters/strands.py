"""Guards agents of Strands: prompts, tool calls, tool results and answers. Needs strands-agents 1.20 or later.

    from strands import Agent
    from customshouse.adapters.strands import GuardHooks

    hooks = GuardHooks()
    agent = Agent(model=model, tools=[look_up], hooks=[hooks])
    result = agent("What is the weather?")

The model receives a notice that the call was blocked; a blocked prompt or answer raises `BlockedError`. A callback
handler and `stream_async` show each text of the model, its reasoning and the arguments of its calls when they are whole
and checked.
"""

from __future__ import annotations

import json
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
from ..verdict import failed_verdict
from ._prompts import PromptTexts
from ._shown import ShownTexts
from ._views import is_view, view_with


class GuardHooks(HookProvider):
    """The hooks of one agent. They also run in agents that are tools of it, if those have them."""

    def __init__(self, guard: Guard | None = None) -> None:
        self.guard = guard or default_guard("strands")
        self._prompts = PromptTexts(self.guard)

    def register_hooks(self, registry: HookRegistry, **_: Any) -> None:
        """Register the hooks. Strands calls it."""
        registry.add_callback(BeforeInvocationEvent, self._before_invocation)
        registry.add_callback(BeforeModelCallEvent, self._before_model)
        registry.add_callback(AfterModelCallEvent, self._after_model)
        registry.add_callback(BeforeToolCallEvent, self._before_tool)
        registry.add_callback(AfterToolCallEvent, self._after_tool)

    async def _before_invocation(self, event: BeforeInvocationEvent) -> None:
        await self._check_prompts(event.messages or [])
        self._hold_model(event.agent)

    async def _before_model(self, event: BeforeModelCallEvent) -> None:
        # A program may give an agent an earlier conversation.
        await self._check_prompts(event.agent.messages)
        self._hold_model(event.agent)

    def _hold_model(self, agent: Any) -> None:
        # At each call, because a program or a router may have set another model.
        if not is_view(agent.model):
            agent.model = _hold_stream(agent.model, self)

    async def _after_model(self, event: AfterModelCallEvent) -> None:
        # The stream of a held model was checked already.
        if event.stop_response is not None and not is_view(event.agent.model):
            await self._check_texts(event.stop_response.message["content"], self.guard.aio.protect.output)

    async def _before_tool(self, event: BeforeToolCallEvent) -> None:
        use = event.tool_use
        hidden = getattr(event.agent.model, "hidden_calls", None) or _HiddenCalls()
        try:
            use["input"] = await self.guard.aio.protect.tool(use["name"], hidden.take(use))
        except BlockedError as error:
            event.cancel_tool = refusal_text(error)
            # Strands keeps this very record in the conversation.
            use["input"] = {}
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

    async def _check_prompts(self, messages: Any) -> None:
        for message in messages:
            blocks = message["content"]
            for place, block in enumerate(blocks):
                # Results of tools were checked when they were made.
                if message["role"] == "user" and "toolResult" not in block:
                    blocks[place] = await self._check_block(block)

    async def _check_block(self, block: Any) -> Any:
        document = block.get("document", {})
        data = document.get("source", {}).get("bytes")
        if data is None or document.get("format") not in TEXT_FORMATS:
            return await self._prompts.map_async(block)
        checked = await self._prompts.map_async({"mime_type": "text/plain", "bytes": data})
        return {"document": {**document, "source": {**document["source"], "bytes": checked["bytes"]}}}

    async def _check_texts(self, blocks: Any, check: Any) -> None:
        for block in list(blocks):
            if isinstance(block.get("text"), str) and block["text"]:
                block["text"] = await check(block["text"])
            thought = block.get("reasoningContent", {}).get("reasoningText", {}).get("text")
            # A provider refuses reasoning that its signature does not fit.
            if thought and await check(thought) != thought:
                blocks.remove(block)


TEXT_FORMATS = ("csv", "html", "md", "txt")
"""Formats of documents that are read."""
CALLS_MAX = 1_000
"""Calls that are shown in another form than they run in. One more, and the oldest runs as it was shown."""


class _HiddenCalls:
    """The arguments of calls of one model, where they are not shown as they are."""

    def __init__(self) -> None:
        self._calls: list[tuple[str, Any, Any]] = []

    def put(self, call_id: str, shown: str, written: str) -> None:
        self._calls = [*self._calls[1 - CALLS_MAX :], (call_id, _read_input(shown), _read_input(written))]

    def take(self, use: Any) -> Any:
        """Return the arguments of a call as the model wrote them."""
        # Some models give the same identifier to several calls.
        for place, (call_id, shown, written) in enumerate(self._calls):
            if call_id == use["toolUseId"] and shown == use["input"]:
                del self._calls[place]
                return written
        return use["input"]


def _read_input(text: str) -> Any:
    # Strands runs a call whose arguments are not JSON without any.
    try:
        return json.loads(text)
    except ValueError:
        return {}


def _hold_stream(model: Any, hooks: GuardHooks) -> Any:
    """Return a view of a model whose stream holds each text until it is checked."""
    own = type(model)
    guard = hooks.guard
    hidden = _HiddenCalls()

    async def stream(self: Any, *args: Any, **options: Any) -> AsyncIterator[Any]:
        held = _Held(guard, hidden)
        async for event in own.stream(self, *args, **options):
            for each in await held.take(event):
                yield each
        for each in await held.release():
            yield each

    async def structured_output(self: Any, output_model: Any, prompt: Any, *args: Any, **options: Any) -> AsyncIterator[Any]:
        await hooks._check_prompts(prompt)
        texts = ShownTexts(guard)
        async for event in own.structured_output(self, output_model, prompt, *args, **options):
            output = event.get("output") if isinstance(event, dict) else None
            if output is None or await texts.is_unchanged(output):
                yield event
            else:
                reason = "A structured answer would have to be masked, so it is blocked."
                raise BlockedError(failed_verdict("sdk.structured_output", reason))

    return view_with(model, stream=stream, structured_output=structured_output, hidden_calls=hidden)


class _Held:
    """The pieces of one text of a stream."""

    def __init__(self, guard: Guard, hidden: _HiddenCalls) -> None:
        self._texts = ShownTexts(guard)
        self._hidden = hidden
        self._kind = ""
        self._pieces: list[Any] = []
        self._call_id = ""
        self._is_left_out = False

    async def take(self, event: Any) -> list[Any]:
        """Return the events to show now."""
        delta = event.get("contentBlockDelta", {}).get("delta", {})
        kind = _kind_of(delta)
        shown = [] if kind == self._kind else await self.release()
        if kind:
            self._kind = kind
            self._pieces.append(delta)
            return shown
        if "contentBlockStart" in event:
            self._is_left_out = False
            self._call_id = event["contentBlockStart"].get("start", {}).get("toolUse", {}).get("toolUseId", "")
        # The signature of reasoning that is left out.
        if "signature" in delta.get("reasoningContent", {}) and self._is_left_out:
            return shown
        return [*shown, event]

    async def release(self) -> list[Any]:
        """Return one event with the checked text of all pieces."""
        kind, pieces = self._kind, self._pieces
        self._kind, self._pieces = "", []
        if kind == "":
            return []
        text = "".join(_text_of(each) for each in pieces)
        if kind == "reasoningContent":
            self._is_left_out = not await self._texts.is_unchanged(text)
            return [] if self._is_left_out else [_delta({kind: {"text": text}})]
        if kind == "toolUse":
            return [_delta({kind: await self._show_call(pieces, text)})]
        return [_delta({kind: await self._texts.check(text)})]

    async def _show_call(self, pieces: list[Any], written: str) -> Any:
        shown = str(await self._texts.check_arguments(written))
        # Some models name the call in its pieces.
        named = {name: value for each in pieces for name, value in each["toolUse"].items()}
        if shown != written:
            self._hidden.put(named.get("toolUseId", self._call_id), shown, written)
        return {**named, "input": shown}


def _kind_of(delta: Any) -> str:
    if "text" in delta.get("reasoningContent", {}):
        return "reasoningContent"
    return next((kind for kind in ("text", "toolUse") if kind in delta), "")


def _text_of(delta: Any) -> str:
    kind = _kind_of(delta)
    return str(delta[kind] if kind == "text" else delta[kind].get("text" if kind == "reasoningContent" else "input", ""))


def _delta(delta: Any) -> Any:
    return {"contentBlockDelta": {"delta": delta}}
