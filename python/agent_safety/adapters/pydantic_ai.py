"""Guards agents of Pydantic AI: prompts, tool calls, tool results and answers. Needs pydantic-ai 2.0 or later.

    from pydantic_ai import Agent
    from agent_safety.adapters.pydantic_ai import GuardCapability

    agent = Agent(model, tools=[look_up], capabilities=[GuardCapability()])

The model receives a notice that the call was blocked; a blocked prompt or answer raises `BlockedError`. Text that is
streamed with `run_stream` is shown as it comes; `stream_guarded` shows what the guard releases.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelRequest, TextPart, UserPromptPart

from .. import BlockedError, Guard, default_guard
from ..tools import refusal_text


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
        parts = []
        for each in response.parts:
            is_text = isinstance(each, TextPart) and each.content
            parts.append(replace(each, content=await self.guard.aio.protect.output(each.content)) if is_text else each)
        return replace(response, parts=parts)

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


async def stream_guarded(result: Any, guard: Guard) -> AsyncIterator[str]:
    """Yield the text of a streamed result as the guard releases it."""
    stream = guard.aio.stream(result.stream_text(delta=True))
    async with aclosing(stream):  # type: ignore[type-var]
        async for text in stream:
            yield text
