"""Guards agents of the OpenAI Agents SDK: prompts, tool calls, tool results and answers. Needs openai-agents 0.4.

    from customshouse.adapters.openai_agents import run, run_streamed

    result = await run(agent, "What is the weather?")
    result = await run_streamed(agent, "What is the weather?")

The model receives a notice that the call was blocked; a blocked prompt or answer raises `BlockedError`. A stream shows
each answer, its reasoning and the arguments of its calls when they are whole and checked. Agents that are handed over
to are guarded too. Tools that run elsewhere (hosted ones, MCP servers) cannot be checked here: they are refused unless
you name them in `unguarded`.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import functools
import json
from collections.abc import AsyncIterator, Callable, Collection
from dataclasses import replace
from typing import Any

from agents import Agent, FunctionTool, Model, ModelProvider, OutputGuardrail, RunConfig, Runner
from agents import GuardrailFunctionOutput as Passed
from openai.types.responses import ResponseOutputItemDoneEvent, ResponseTextDeltaEvent

from .. import BlockedError, Guard, default_guard
from .._tool_error import run_tool_async
from ..tools import refusal_text
from ..verdict import failed_verdict
from ._held_calls import held_calls
from ._prompts import PromptTexts
from ._shown import ShownTexts
from ._views import view_with


async def run(
    agent: Any, prompt: Any, *, guard: Guard | None = None, unguarded: Collection[str] = (), **options: Any
) -> Any:
    """Do what `Runner.run` does, behind the guard."""
    own = guard or default_guard("openai-agents")
    asked = await _check_prompt(own, prompt)
    guarded = _guarded_options(own, options)
    try:
        return await Runner.run(guarded_agent(agent, own, unguarded), asked, **guarded)
    finally:
        if _has_own_provider(options):
            await _close(guarded["run_config"].model_provider)


async def run_streamed(
    agent: Any, prompt: Any, *, guard: Guard | None = None, unguarded: Collection[str] = (), **options: Any
) -> Any:
    """Do what `Runner.run_streamed` does, behind the guard. Await it, because the prompt is checked first."""
    own = guard or default_guard("openai-agents")
    asked = await _check_prompt(own, prompt)
    guarded = _guarded_options(own, options)
    result = Runner.run_streamed(guarded_agent(agent, own, unguarded), asked, **guarded)
    closing: list[asyncio.Task[None]] = []
    # Older versions have no such task, and no connections that stay open.
    task = getattr(result, "run_loop_task", None)
    if task is not None and _has_own_provider(options):
        provider = guarded["run_config"].model_provider
        task.add_done_callback(lambda _: closing.append(asyncio.ensure_future(_close(provider))))
    result.stream_events = functools.partial(_show_events, result.stream_events, ShownTexts(own), closing)
    return result


async def _show_events(
    open_events: Callable[[], AsyncIterator[Any]], texts: ShownTexts, closing: list[asyncio.Task[None]]
) -> AsyncIterator[Any]:
    """Yield the events of a run. Arguments of calls are checked as answers are, because the caller sees them."""
    async for event in open_events():
        data: Any = getattr(event, "data", None)
        item: Any = getattr(event, "item", None)
        if item is not None:
            item = copy.copy(item)
            item.raw_item = await _show_call(texts, item.raw_item)
            yield replace(event, item=item)
        elif hasattr(data, "item"):
            yield replace(event, data=data.model_copy(update={"item": await _show_call(texts, data.item)}))
        elif hasattr(data, "response"):
            output = [await _show_call(texts, each) for each in data.response.output]
            response = data.response.model_copy(update={"output": output})
            yield replace(event, data=data.model_copy(update={"response": response}))
        else:
            yield event
    await asyncio.gather(*closing)


async def _show_call(texts: ShownTexts, call: Any) -> Any:
    written = call.get("arguments") if isinstance(call, dict) else getattr(call, "arguments", None)
    shown = await texts.check_arguments(written) if written else written
    if shown == written:
        return call
    return {**call, "arguments": shown} if isinstance(call, dict) else call.model_copy(update={"arguments": shown})


def _has_own_provider(options: dict[str, Any]) -> bool:
    """Return whether the run has a provider that the adapter must close. `Runner` closes only those that it makes."""
    config = options.get("run_config")
    return config is None or (isinstance(config, dict) and "model_provider" not in config)


async def _close(provider: Any) -> None:
    # A run does not fail because a connection could not be closed.
    with contextlib.suppress(Exception):
        await provider.aclose()


def guarded_agent(agent: Any, guard: Guard | None = None, unguarded: Collection[str] = ()) -> Any:
    """Return the same agent with guarded tools and handoffs. Raise `BlockedError` if some cannot be guarded."""
    return _guarded(agent, guard or default_guard("openai-agents"), unguarded, {})


def _guarded(agent: Any, guard: Guard, unguarded: Collection[str], known: dict[int, Any]) -> Any:
    if id(agent) in known:
        return known[id(agent)]
    others = [each.name for each in agent.tools if not isinstance(each, FunctionTool)]
    others += [each.name for each in agent.mcp_servers]
    others += [each.agent_name for each in agent.handoffs if not isinstance(each, Agent)]
    left = [name for name in others if name not in unguarded]
    if left:
        reason = f"{', '.join(left)} would run unchecked. Name them in `unguarded` if that is meant."
        raise BlockedError(failed_verdict("sdk.unguarded", reason))
    made = agent.clone(tools=[_guarded_tool(each, guard) for each in agent.tools])
    if isinstance(agent.model, Model):
        made.model = _guarded_model(agent.model, guard)
    if agent.tool_use_behavior != "run_llm_again":
        # The result of a tool may be the answer, which no model has written.
        made.output_guardrails = [*agent.output_guardrails, _final_check(guard)]
    # Agents may hand over to each other in a circle.
    known[id(agent)] = made
    made.handoffs = [
        _guarded(each, guard, unguarded, known) if isinstance(each, Agent) else each for each in agent.handoffs
    ]
    return made


def _guarded_options(guard: Guard, options: dict[str, Any]) -> dict[str, Any]:
    config = options.get("run_config") or RunConfig()
    config = RunConfig(**config) if isinstance(config, dict) else config
    model = _guarded_model(config.model, guard) if isinstance(config.model, Model) else config.model
    provider = _GuardedProvider(config.model_provider, guard)
    return {**options, "run_config": replace(config, model=model, model_provider=provider)}


def _final_check(guard: Guard) -> Any:
    async def check(context: Any, agent: Any, output: Any) -> Any:
        shown = output if isinstance(output, str) else _plain(output)
        if await guard.aio.protect.output(shown) != shown:
            reason = "A tool gave the final answer, and it would have to be masked, so it is blocked."
            raise BlockedError(failed_verdict("sdk.final_output", reason))
        return Passed(output_info=None, tripwire_triggered=False)

    return OutputGuardrail(guardrail_function=check, name="customshouse")


class _GuardedProvider(ModelProvider):
    def __init__(self, provider: Any, guard: Guard) -> None:
        self._provider = provider
        self._guard = guard

    def get_model(self, model_name: str | None) -> Any:
        return _guarded_model(self._provider.get_model(model_name), self._guard)

    async def aclose(self) -> None:
        await self._provider.aclose()


def _guarded_model(model: Any, guard: Guard) -> Any:
    """Return a view of a model whose answers are checked, and whose streams hold an answer until then."""
    own = type(model)

    async def get_response(self: Any, *args: Any, **options: Any) -> Any:
        response = await own.get_response(self, *args, **options)
        return replace(response, output=[await _check_output(guard, each) for each in response.output])

    async def stream_response(self: Any, *args: Any, **options: Any) -> AsyncIterator[Any]:
        async for event in _check_stream(guard, own.stream_response(self, *args, **options)):
            yield event

    return view_with(model, get_response=get_response, stream_response=stream_response)


async def _check_stream(guard: Guard, events: AsyncIterator[Any]) -> AsyncIterator[Any]:
    items: list[Any] = []
    end: Any = None
    async for event in events:
        if event.type == "response.output_item.done":
            items.append(event.item)
        elif event.type in _ENDS:
            end = event
        elif event.type in _ERRORS:
            yield event
    if end is None:
        raise BlockedError(failed_verdict("sdk.fault", "The stream of the model had no end."))
    # Some providers leave the items out of the last event.
    output = [await _check_output(guard, each) for each in end.response.output or items]
    for index, item in enumerate(output):
        for event in _events_of(item, index):
            yield event
    yield end.model_copy(update={"response": end.response.model_copy(update={"output": output})})


async def _check_output(guard: Guard, item: Any) -> Any:
    """Return an item of an answer with checked texts, and without the arguments of a refused call."""
    changes: dict[str, Any] = {}
    if item.type == "function_call":
        held = await held_calls(guard).ahold_json(item.call_id, item.name, item.arguments)
        changes = {} if held == item.arguments else {"arguments": held}
    for name in _TEXTS.get(item.type, ()):
        parts = getattr(item, name, None)
        if parts:
            changes[name] = [await _check_part(guard, each) for each in parts]
    return item.model_copy(update=changes)


async def _check_part(guard: Guard, part: Any) -> Any:
    changes: dict[str, str] = {}
    for name in ("text", "refusal"):
        text = getattr(part, name, None)
        if text:
            changes[name] = await guard.aio.protect.output(text)
    return part.model_copy(update=changes)


_ENDS = ("response.completed", "response.incomplete", "response.failed")
"""The events that hold the whole answer. Others repeat it in pieces."""
_ERRORS = ("error", "response.error")
_TEXTS = {"message": ("content",), "reasoning": ("summary", "content")}
"""The items that hold texts of the model, and where."""


def _events_of(item: Any, index: int) -> list[Any]:
    """Return the events that show an item: each text of an answer in one piece, and the whole item."""
    texts = [
        ResponseTextDeltaEvent(
            type="response.output_text.delta",
            content_index=place,
            delta=part.text,
            item_id=item.id,
            logprobs=[],
            output_index=index,
            sequence_number=0,
        )
        for place, part in enumerate(item.content if item.type == "message" else [])
        if getattr(part, "text", None)
    ]
    done = ResponseOutputItemDoneEvent(
        type="response.output_item.done", item=item, output_index=index, sequence_number=0
    )
    return [*texts, done]


def _guarded_tool(tool: Any, guard: Guard) -> Any:
    if not isinstance(tool, FunctionTool):
        return tool

    async def invoke(context: Any, written: str) -> Any:
        try:
            call_id = getattr(context, "tool_call_id", None)
            arguments = await held_calls(guard).adecide(call_id, tool.name, _arguments(written))
            run = functools.partial(tool.on_invoke_tool, context, json.dumps(arguments))
            result = await run_tool_async(guard.aio.protect, tool.name, run)
            shown = result if isinstance(result, str) else _plain(result)
            checked = await guard.aio.protect.tool_result(tool.name, shown)
        except BlockedError as error:
            return refusal_text(error)
        return result if checked == shown else checked

    wrapped = copy.copy(tool)
    wrapped.on_invoke_tool = invoke
    return wrapped


def _arguments(written: str) -> Any:
    try:
        return json.loads(written or "{}")
    except ValueError:
        raise BlockedError(failed_verdict("sdk.not_json", "The arguments are not JSON.")) from None


async def _check_prompt(guard: Guard, prompt: Any) -> Any:
    if isinstance(prompt, str):
        return await guard.aio.protect.input(prompt)
    return [await _check_item(guard, each) for each in prompt]


async def _check_item(guard: Guard, item: Any) -> Any:
    if not isinstance(item, dict) or item.get("role") != "user":
        return item
    return {**item, "content": await PromptTexts(guard).map_async(item.get("content"))}


def _plain(value: Any) -> str:
    dump = getattr(value, "model_dump_json", None)
    return str(dump()) if dump else json.dumps(value, default=str)
