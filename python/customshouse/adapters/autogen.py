"""Guards agents of Microsoft's AutoGen: the model client and the tools. Needs autogen-core 0.7 or later.

    from autogen_agentchat.agents import AssistantAgent
    from customshouse.adapters.autogen import guarded_model, guarded_tools

    agent = AssistantAgent("helper", model_client=guarded_model(client), tools=guarded_tools([look_up, pay]))

The model receives a notice that the call was blocked; a blocked prompt or answer raises `BlockedError`. Reasoning is
checked as an answer is. A message of another agent of the team arrives as a prompt, so that it is checked too. For AG2
see `customshouse.adapters.ag2`.
"""

from __future__ import annotations

import functools
import os
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from typing import Any
from weakref import WeakValueDictionary

from autogen_core.models import ChatCompletionClient, UserMessage
from autogen_core.tools import BaseTool, FunctionTool

from .. import BlockedError, Guard, default_guard
from .._tool_error import run_tool_async
from ..tools import with_notice
from ..verdict import failed_verdict
from ._held_calls import held_calls


def guarded_tools(tools: Sequence[Any], guard: Guard | None = None) -> list[Any]:
    """Return the same tools behind the guard. Functions are taken too."""
    own = guard or _share_default()
    return [
        _GuardedTool(each if isinstance(each, BaseTool) else FunctionTool(each, each.__doc__ or each.__name__), own)
        for each in tools
    ]


def guarded_model(client: Any, guard: Guard | None = None) -> Any:
    """Return the same model client behind the guard."""
    return _GuardedModel(client, guard or _share_default())


_defaults: WeakValueDictionary[tuple[str | None, ...], Guard] = WeakValueDictionary()


def _share_default() -> Guard:
    """Return one default guard for the model and the tools, because they decide on the same calls."""
    own = tuple(os.environ.get(name) for name in ("SERVICE_URL", "SERVICE_CONFIG", "SERVICE_AGENT_ID"))
    return _defaults.get(own) or _defaults.setdefault(own, default_guard("autogen"))


class _GuardedTool(BaseTool):
    def __init__(self, tool: Any, guard: Guard) -> None:
        super().__init__(tool.args_type(), tool.return_type(), tool.name, tool.description)
        self._tool = tool
        self._guard = guard

    @property
    def schema(self) -> Any:
        return self._tool.schema

    def return_value_as_string(self, value: Any) -> str:
        return value if isinstance(value, str) else self._tool.return_value_as_string(value)

    async def run(self, args: Any, cancellation_token: Any) -> Any:
        return await self.run_json(args.model_dump(), cancellation_token)

    async def run_json(self, args: Any, cancellation_token: Any, call_id: str | None = None) -> Any:
        protect = self._guard.aio.protect
        try:
            allowed = await held_calls(self._guard).adecide(call_id, self.name, dict(args))
            run = functools.partial(self._tool.run_json, allowed, cancellation_token, call_id)
            result = await run_tool_async(protect, self.name, run)
            shown = self.return_value_as_string(result)
            checked = await protect.tool_result(self.name, shown)
        except BlockedError as error:
            raise with_notice(error) from None
        return result if checked == shown else checked

    async def save_state_json(self) -> Any:
        return await self._tool.save_state_json()

    async def load_state_json(self, state: Any) -> None:
        await self._tool.load_state_json(state)


class _GuardedModel(ChatCompletionClient):
    def __init__(self, client: Any, guard: Guard) -> None:
        self._client = client
        self._guard = guard

    async def create(self, messages: Sequence[Any], **options: Any) -> Any:
        return await self._checked(await self._client.create(await self._asked(messages), **options))

    async def create_stream(self, messages: Sequence[Any], **options: Any) -> AsyncGenerator[Any, None]:
        result: Any = None
        stream = self._guard.open_stream()
        async for each in self._client.create_stream(await self._asked(messages), **options):
            if not isinstance(each, str):
                result = each
                continue
            shown = stream.push(each)
            if shown:
                yield shown
        if result is None:
            raise BlockedError(failed_verdict("sdk.fault", "The stream of the model had no end."))
        rest = await stream.end_async()
        if rest:
            yield rest
        yield await self._checked(result)

    async def _asked(self, messages: Sequence[Any]) -> list[Any]:
        return [await self._prompt(each) if isinstance(each, UserMessage) else each for each in messages]

    async def _prompt(self, message: Any) -> Any:
        check = self._guard.aio.protect.input
        if isinstance(message.content, str):
            return message.model_copy(update={"content": await check(message.content)})
        parts = [await check(part) if isinstance(part, str) else part for part in message.content]
        return message.model_copy(update={"content": parts})

    async def _checked(self, result: Any) -> Any:
        changes: dict[str, Any] = {}
        if isinstance(result.content, list):
            changes["content"] = [await self._held(each) for each in result.content]
        for name in ("content", "thought"):
            text = getattr(result, name, None)
            if isinstance(text, str) and text:
                changes[name] = await self._guard.aio.protect.output(text)
        return result.model_copy(update=changes)

    async def _held(self, call: Any) -> Any:
        held = await held_calls(self._guard).ahold_json(call.id, call.name, call.arguments)
        return call if held == call.arguments else replace(call, arguments=held)

    async def close(self) -> None:
        await self._client.close()

    def actual_usage(self) -> Any:
        return self._client.actual_usage()

    def total_usage(self) -> Any:
        return self._client.total_usage()

    def count_tokens(self, messages: Sequence[Any], **options: Any) -> Any:
        return self._client.count_tokens(messages, **options)

    def remaining_tokens(self, messages: Sequence[Any], **options: Any) -> Any:
        return self._client.remaining_tokens(messages, **options)

    @property
    def capabilities(self) -> Any:
        return self._client.capabilities

    @property
    def model_info(self) -> Any:
        return self._client.model_info
