"""Guards agents of Pydantic AI: prompts, tool calls, tool results and answers. Needs pydantic-ai 2.68 or later.

    from pydantic_ai import Agent
    from agent_safety.adapters.pydantic_ai import GuardCapability

    agent = Agent(model, tools=[look_up], capabilities=[GuardCapability()])

The model receives a notice that the call was blocked; a blocked prompt or answer raises `BlockedError`. Streams
show an answer when it is whole and checked, in one piece.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelRequest, TextPart, UserPromptPart
from pydantic_ai.models import CompletedStreamedResponse
from pydantic_ai.models.wrapper import WrapperModel

from .. import BlockedError, Guard, default_guard
from ..tools import refusal_text

# An older version would ignore the method below, and its streams would show what was not checked.
if not hasattr(AbstractCapability, "get_wrapper_model"):
    raise ImportError("agent_safety.adapters.pydantic_ai needs pydantic-ai 2.68 or later.")

@dataclass
class GuardCapability(AbstractCapability[Any]):
    """The capability that checks everything of an agent."""

    guard: Guard = field(default_factory=lambda: default_guard("pydantic-ai"))

    async def before_model_request(self, ctx: Any, request_context: Any) -> Any:
        """Check what people have said in the last request."""
        messages = list(request_context.messages)
        if messages and isinstance(messages[-1], ModelRequest):
            parts = [await self._prompt(each) for each in messages[-1].parts]
            messages[-1] = replace(messages[-1], parts=parts)
            request_context.messages = messages
        return request_context

    async def after_model_request(self, ctx: Any, *, request_context: Any, response: Any) -> Any:
        """Check the text of the answer."""
        return response if getattr(response, _CHECKED, False) else await _check_answer(self.guard, response)

    def get_wrapper_model(self, model: Any) -> Any:
        """Return a model whose streams hold an answer until it is checked."""
        return _HeldStreams(model, self.guard)

    async def wrap_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any) -> Any:
        """Check a call before it runs, and its result."""
        try:
            allowed = await self.guard.aio.protect.tool(call.tool_name, args)
            result = await handler(allowed)
            return await self.guard.aio.protect.tool_result(call.tool_name, result)
        except BlockedError as error:
            return refusal_text(error)

    async def _prompt(self, part: Any) -> Any:
        if not isinstance(part, UserPromptPart):
            return part
        check = self.guard.aio.protect.input
        if isinstance(part.content, str):
            return replace(part, content=await check(part.content))
        return replace(part, content=[await check(each) if isinstance(each, str) else each for each in part.content])


# Marks an answer whose stream was checked, so that it is not checked and recorded again.
_CHECKED = "_agent_safety_checked"


async def _check_answer(guard: Guard, response: Any) -> Any:
    parts = []
    for each in response.parts:
        is_text = isinstance(each, TextPart) and each.content
        parts.append(replace(each, content=await guard.aio.protect.output(each.content)) if is_text else each)
    return replace(response, parts=parts)


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
            checked = await _check_answer(self._guard, stream.get())
        setattr(checked, _CHECKED, True)
        yield CompletedStreamedResponse(
            checked, model_request_parameters=model_request_parameters, replay_events=True
        )
