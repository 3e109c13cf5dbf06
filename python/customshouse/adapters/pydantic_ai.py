"""Guards agents of Pydantic AI: prompts, tool calls, tool results and answers. Needs pydantic-ai 2.68 or later.

    from pydantic_ai import Agent
    from customshouse.adapters.pydantic_ai import GuardCapability

    agent = Agent(model, tools=[look_up], capabilities=[GuardCapability()])

The model receives a notice that the call was blocked; a blocked prompt or answer raises `BlockedError`. Streams
show an answer, its reasoning and the arguments of its calls when they are whole and checked, in one piece.
"""

from __future__ import annotations

import functools
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, ModelRetry, SkipToolExecution, ToolFailed
from pydantic_ai.exceptions import ToolFailedError, ToolRetryError
from pydantic_ai.messages import ModelRequest, ToolCallPart, UserPromptPart
from pydantic_ai.models import CompletedStreamedResponse
from pydantic_ai.models.wrapper import WrapperModel

from .. import BlockedError, Guard, default_guard
from .._tool_error import run_tool_async
from ..tools import refusal_text
from ._held_calls import held_calls
from ._prompts import PromptTexts
from ._shown import ShownTexts, write_json

# An older version would ignore the method below, and its streams would show what was not checked.
if not hasattr(AbstractCapability, "get_wrapper_model"):
    raise ImportError("customshouse.adapters.pydantic_ai needs pydantic-ai 2.68 or later.")

@dataclass
class GuardCapability(AbstractCapability[Any]):
    """The capability that checks everything of an agent."""

    guard: Guard = field(default_factory=lambda: default_guard("pydantic-ai"))

    def __post_init__(self) -> None:
        self._prompts = PromptTexts(self.guard)

    async def before_model_request(self, ctx: Any, request_context: Any) -> Any:
        """Check what people have said, each text once."""
        request_context.messages = [
            replace(each, parts=[await self._prompt(part) for part in each.parts]) if isinstance(each, ModelRequest) else each
            for each in request_context.messages
        ]
        return request_context

    async def after_model_request(self, ctx: Any, *, request_context: Any, response: Any) -> Any:
        """Check the text of the answer."""
        if getattr(response, _CHECKED, False):
            return response
        return await _check_answer(self.guard, response, request_context.model_request_parameters)

    def get_wrapper_model(self, model: Any) -> Any:
        """Return a model whose streams hold an answer until it is checked."""
        return _HeldStreams(model, self.guard)

    @property
    def has_wrap_run_event_stream(self) -> bool:
        """Whether a run without a reader of events is streamed. The method below runs for every reader."""
        return False

    async def wrap_run_event_stream(self, ctx: Any, *, stream: Any) -> AsyncIterator[Any]:
        """Check the arguments of calls as answers are, because the reader of the events sees them."""
        texts = ShownTexts(self.guard)
        async for event in stream:
            part: Any = getattr(event, "part", None)
            if getattr(part, "args", None):
                yield replace(event, part=replace(part, args=await texts.check_arguments(part.args)))
            else:
                yield event

    async def wrap_tool_validate(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any) -> Any:
        """Leave the arguments of a refused call unread, because the model reads why it was refused."""
        given = call.args_as_dict()
        is_refused = held_calls(self.guard).find_refusal(call.tool_call_id, call.tool_name, given) is not None
        return given if is_refused else await handler(args)

    async def wrap_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any) -> Any:
        """Check a call before it runs, and its result."""
        try:
            held = held_calls(self.guard)
            allowed = await held.adecide(call.tool_call_id, call.tool_name, call.args_as_dict(), args)
            protect = self.guard.aio.protect
            run = functools.partial(self._run_tool, call.tool_name, functools.partial(handler, allowed))
            result = await run_tool_async(protect, call.tool_name, run, _STEERING)
            return await protect.tool_result(call.tool_name, result)
        except BlockedError as error:
            return refusal_text(error)

    async def _run_tool(self, name: str, run: Callable[[], Awaitable[Any]]) -> Any:
        """Run a tool, and check what it asks the model to do otherwise."""
        try:
            return await run()
        except Exception as error:
            failure = error
        asked = failure if isinstance(failure, _ASKING) else failure.__cause__
        if not isinstance(asked, _ASKING):
            raise failure
        checked = await self.guard.aio.protect.tool_result(name, asked.message)
        raise failure if checked == asked.message else type(asked)(checked)

    async def _prompt(self, part: Any) -> Any:
        if not isinstance(part, UserPromptPart):
            return part
        if isinstance(part.content, str):
            return replace(part, content=await self._prompts.map_async(part.content))
        return replace(part, content=[await self._item(each) for each in part.content])

    async def _item(self, item: Any) -> Any:
        if isinstance(item, str):
            return await self._prompts.map_async(item)
        data = getattr(item, "data", None)
        if isinstance(data, bytes):
            checked = await self._prompts.map_async({"media_type": item.media_type, "data": data})
            return item if checked["data"] == data else replace(item, data=checked["data"])
        text = getattr(item, "content", None)
        if text is None:
            return item
        if not isinstance(text, str):
            text = write_json(text)
        checked = await self._prompts.map_async(text)
        return item if checked == text else checked


_ASKING = (ModelRetry, ToolFailed)
"""Errors of a tool whose text the model reads. Pydantic AI wraps them."""
_STEERING = (ApprovalRequired, CallDeferred, ModelRetry, SkipToolExecution, ToolFailed, ToolFailedError, ToolRetryError)
"""Errors of a tool by which it steers the run."""

# Marks an answer whose stream was checked, so that it is not checked and recorded again.
_CHECKED = "_customshouse_checked"


async def _check_answer(guard: Guard, response: Any, request: Any) -> Any:
    output_tools = {each.name for each in request.output_tools}
    parts = [await _check_part(guard, each, output_tools) for each in response.parts]
    return replace(response, parts=parts)


async def _check_part(guard: Guard, part: Any, output_tools: set[str]) -> Any:
    content = getattr(part, "content", None)
    if isinstance(content, str) and content:
        checked = await guard.aio.protect.output(content)
        if checked == content:
            return part
        # A provider refuses reasoning that its signature does not fit.
        unsigned = {"signature": None} if hasattr(part, "signature") else {}
        return replace(part, content=checked, **unsigned)
    if getattr(part, "args", None) and part.tool_name in output_tools:
        # The arguments are the answer.
        return replace(part, args=await guard.aio.protect.output(part.args_as_json_str()))
    if isinstance(part, ToolCallPart):
        given = part.args_as_dict()
        held = await held_calls(guard).ahold(part.tool_call_id, part.tool_name, given)
        return part if held == given else replace(part, args=held)
    return part


class _HeldStreams(WrapperModel):
    def __init__(self, wrapped: Any, guard: Guard) -> None:
        super().__init__(wrapped)
        self._guard = guard

    @asynccontextmanager
    async def request_stream(
        self, messages: Any, model_settings: Any, model_request_parameters: Any, run_context: Any = None
    ) -> AsyncGenerator[Any]:
        opened = self.wrapped.request_stream(messages, model_settings, model_request_parameters, run_context)
        async with opened as stream:
            async for _ in stream:
                pass
            checked = await _check_answer(self._guard, stream.get(), model_request_parameters)
        setattr(checked, _CHECKED, True)
        yield CompletedStreamedResponse(
            checked, model_request_parameters=model_request_parameters, replay_events=True
        )
