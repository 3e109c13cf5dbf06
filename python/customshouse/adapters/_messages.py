"""Messages and tool calls of LangChain and LangGraph."""

from __future__ import annotations

import functools
import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.messages import AIMessage, BaseMessage, ChatMessage, HumanMessage, ToolMessage
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.tools import BaseTool, ToolException
from langgraph.constants import TAG_NOSTREAM
from langgraph.errors import GraphBubbleUp
from langgraph.types import Command

from .. import BlockedError, Guard
from .._tool_error import run_tool, run_tool_async
from ..tools import refusal_text
from ..verdict import failed_verdict
from ._held_calls import held_calls
from ._prompts import PromptTexts
from ._shown import write_json
from ._views import view_with


def map_texts(message: Any, change: Callable[[str], str]) -> Any:
    """Return a message with changed text. Reasoning is left out if it would change, as its provider signed it."""
    content = message.content
    update: dict[str, Any] = {}
    text = change(message.text) if message.text else ""
    blocks = content if isinstance(content, list) else []
    thoughts = "\n".join(each for block in blocks if not _is_answer(block) for each in _thoughts_in(block))
    if text != message.text:
        update["content"] = text
    elif thoughts and change(thoughts) != thoughts:
        update["content"] = [each for each in blocks if _is_answer(each) or not list(_thoughts_in(each))]
    extra = {name: each for name, each in message.additional_kwargs.items() if _is_read(name, each)}
    written = json.dumps(extra, default=str, ensure_ascii=False) if extra else ""
    if update or change(written) != written:
        # The provider's own form holds the text as it was.
        calls = {name: each for name, each in message.additional_kwargs.items() if name in CALLS}
        update.update(additional_kwargs=calls, response_metadata={})
    return message.model_copy(update=update) if update else message


CALLS = ("tool_calls", "function_call")
"""Calls next to the content of a message, which are checked when they run."""
CALL_BLOCKS = ("tool_use", "tool_call", "function_call", "invalid_tool_call", "custom_tool_call", "server_tool_use")
THOUGHTS = ("text", "thinking", "reasoning", "reasoning_content", "refusal")
"""Members of a block that hold what a model thinks."""


def _is_answer(block: Any) -> bool:
    """Return whether a block is a part of the text of a message, or a call."""
    return not isinstance(block, dict) or block.get("type") == "text" or block.get("type") in CALL_BLOCKS


def _thoughts_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (each for name, each in value.items() if name in THOUGHTS and isinstance(each, str) and each)
        value = list(value.values())
    for each in value if isinstance(value, list) else []:
        yield from _thoughts_in(each)


def _is_read(name: str, value: Any) -> bool:
    # A signature is no text, and looks like a secret.
    return bool(value) and name not in CALLS and "signature" not in name


def _texts_of(message: Any) -> list[str]:
    found: dict[str, None] = {}

    def note(text: str) -> str:
        if text:
            found[text] = None
        return text

    map_texts(message, note)
    return list(found)


def _with_texts(message: Any, checked: dict[str, str]) -> list[Any]:
    changed = map_texts(message, lambda text: checked[text] if text else text)
    return [] if changed is message else [changed]


def _is_prompt(message: Any) -> bool:
    """Return whether a person may have written a message. A `ChatMessage` has a role of any name."""
    return isinstance(message, (HumanMessage, ChatMessage))


def check_input(texts: PromptTexts, messages: Sequence[Any]) -> list[Any]:
    """Return the prompts that are to be masked. Raise `BlockedError`."""
    return _changed([(each, texts.map(each.content)) for each in messages if _is_prompt(each)])


async def acheck_input(texts: PromptTexts, messages: Sequence[Any]) -> list[Any]:
    """Check as `check_input` does."""
    return _changed([(each, await texts.map_async(each.content)) for each in messages if _is_prompt(each)])


def _changed(checked: list[tuple[Any, Any]]) -> list[Any]:
    return [each.model_copy(update={"content": content}) for each, content in checked if content != each.content]


@dataclass
class KnownAnswers:
    """The answers that a guarded model has returned, which are not checked again."""

    texts: set[str] = field(default_factory=set)
    calls: set[str] = field(default_factory=set)
    # True if a structured answer would be made of a changed call or text.
    changed: bool = False


def check_output(guard: Guard, response: Any, known: KnownAnswers) -> Any:
    """Return the answer of a model with checked texts, and without the arguments of refused calls. Raise `BlockedError`."""
    texts = {each: each if each in known.texts else guard.protect.output(each) for each in _answers_in(response)}
    return _with_answers(response, texts, hold_calls(guard, response.result, known), known)


async def acheck_output(guard: Guard, response: Any, known: KnownAnswers) -> Any:
    """Check as `check_output` does."""
    texts = {
        each: each if each in known.texts else await guard.aio.protect.output(each) for each in _answers_in(response)
    }
    return _with_answers(response, texts, await ahold_calls(guard, response.result, known), known)


def check_message(guard: Guard, message: Any, known: KnownAnswers) -> Any:
    """Return a message of a model as `check_output` does, and note it. Raise `BlockedError`."""
    checked = {each: guard.protect.output(each) for each in _texts_of(message)}
    return _note_message(message, checked, hold_calls(guard, [message]), known)


async def acheck_message(guard: Guard, message: Any, known: KnownAnswers) -> Any:
    """Check as `check_message` does."""
    checked = {each: await guard.aio.protect.output(each) for each in _texts_of(message)}
    return _note_message(message, checked, await ahold_calls(guard, [message]), known)


def _note_message(message: Any, checked: dict[str, str], held: dict[int, Any], known: KnownAnswers) -> Any:
    changed = with_held_calls(next(iter(_with_texts(message, checked)), message), held)
    # LangChain makes a structured answer from a call, or else from the text.
    calls = _calls_in([message])
    known.changed |= _calls_in([changed]) != calls if calls else changed is not message
    known.texts.update(_texts_of(changed))
    known.calls.update(map(write_json, _calls_in([changed])))
    return changed


def hold_calls(guard: Guard, messages: Sequence[Any], known: KnownAnswers | None = None) -> dict[int, Any]:
    """Return the arguments that the conversation may hold, by the identities of their calls."""
    # Some models give the same id to several calls.
    held = held_calls(guard)
    calls = _unknown_calls(messages, known)
    return {id(each): held.hold(each["id"], each["name"], each["args"]) for each in calls}


async def ahold_calls(guard: Guard, messages: Sequence[Any], known: KnownAnswers | None = None) -> dict[int, Any]:
    """Hold as `hold_calls` does."""
    held = held_calls(guard)
    calls = _unknown_calls(messages, known)
    return {id(each): await held.ahold(each["id"], each["name"], each["args"]) for each in calls}


def _unknown_calls(messages: Sequence[Any], known: KnownAnswers | None) -> list[Any]:
    return [each for each in _calls_in(messages) if known is None or write_json(each) not in known.calls]


def _calls_in(messages: Sequence[Any]) -> list[Any]:
    return [call for each in messages if isinstance(each, AIMessage) for call in each.tool_calls]


def with_held_calls(message: Any, held: dict[int, Any]) -> Any:
    """Return a message whose calls have these arguments, in each form in which it holds them."""
    calls = [{**each, "args": held.get(id(each), each["args"])} for each in getattr(message, "tool_calls", ())]
    if not calls or calls == message.tool_calls:
        return message
    changed = {each["id"] for each, old in zip(calls, message.tool_calls, strict=True) if each != old}
    content = message.content
    if isinstance(content, list):
        content = [each for each in content if not _is_call(each, changed)]
    extra = {name: each for name, each in message.additional_kwargs.items() if name not in CALLS}
    update = {"tool_calls": calls, "content": content, "additional_kwargs": extra, "response_metadata": {}}
    if getattr(message, "tool_call_chunks", None):
        update["tool_call_chunks"] = []
    return message.model_copy(update=update)


def _answers_in(response: Any) -> list[str]:
    """Return the texts of an answer. It has further messages if it is structured."""
    texts = [text for each in response.result if isinstance(each, AIMessage) for text in _texts_of(each)]
    return texts if response.structured_response is None else [*texts, write_json(response.structured_response)]


def _is_call(block: Any, call_ids: set[Any]) -> bool:
    return isinstance(block, dict) and (block.get("id") in call_ids or block.get("call_id") in call_ids)


def _is_structured(response: Any) -> bool:
    """Return whether an answer is structured, or was to be: LangChain then adds the error of its form as a message."""
    return response.structured_response is not None or any(isinstance(each, ToolMessage) for each in response.result)


def _with_answers(response: Any, checked: dict[str, str], held: dict[int, Any], known: KnownAnswers) -> Any:
    if _is_structured(response):
        text = write_json(response.structured_response)
        if known.changed or checked.get(text, text) != text:
            reason = "A structured answer would have to be masked, so it is blocked."
            raise BlockedError(failed_verdict("sdk.structured_output", reason))
    result = [
        with_held_calls(next(iter(_with_texts(each, checked)), each), held) if isinstance(each, AIMessage) else each
        for each in response.result
    ]
    return replace(response, result=result)


def check_tool_call(guard: Guard, request: Any, handler: Callable[[Any], Any]) -> Any:
    """Run a tool call behind the guard. The model receives a notice of a block."""
    call = request.tool_call
    try:
        allowed = held_calls(guard).decide(call["id"], call["name"], call["args"])
        tool = _CheckedTool(guard, call["name"])
        asked = request.override(tool_call={**call, "args": allowed}, tool=tool.view(request.tool))
        result = run_tool(guard.protect, call["name"], lambda: handler(asked), (GraphBubbleUp,))
        found = _results(result)
        return _with_results(result, {at: tool.check(found[at]) for at in found})
    except BlockedError as error:
        return _refusal(call, error)


async def acheck_tool_call(guard: Guard, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
    """Run as `check_tool_call` does."""
    call = request.tool_call
    try:
        allowed = await held_calls(guard).adecide(call["id"], call["name"], call["args"])
        tool = _CheckedTool(guard, call["name"])
        asked = request.override(tool_call={**call, "args": allowed}, tool=tool.view(request.tool))
        result = await run_tool_async(guard.aio.protect, call["name"], lambda: handler(asked), (GraphBubbleUp,))
        found = _results(result)
        return _with_results(result, {at: await tool.check_async(found[at]) for at in found})
    except BlockedError as error:
        return _refusal(call, error)


class _CheckedTool:
    """Checks the text that a tool returns before LangChain tells its callbacks, and so events and tracers, of it."""

    def __init__(self, guard: Guard, name: str) -> None:
        self._guard = guard
        self._name = name
        self._checked: list[str] = []

    def view(self, tool: Any) -> Any:
        """Return a view of a tool that runs checked."""
        if not isinstance(tool, BaseTool):
            return tool
        own = type(tool)

        # Wrapped, because LangChain reads these methods' parameters.
        @functools.wraps(own._run)
        def run(view: Any, *args: Any, **options: Any) -> Any:
            result = run_tool(self._guard.protect, self._name, lambda: own._run(view, *args, **options), _STEERING)
            return _with_text(result, self.check(_text_in(result)))

        @functools.wraps(own._arun)
        async def arun(view: Any, *args: Any, **options: Any) -> Any:
            protect = self._guard.aio.protect
            result = await run_tool_async(protect, self._name, lambda: own._arun(view, *args, **options), _STEERING)
            return _with_text(result, await self.check_async(_text_in(result)))

        return view_with(tool, _run=run, _arun=arun)

    def check(self, content: Any) -> Any:
        """Return the checked content. A text is checked once."""
        if content is None or content in self._checked:
            return content
        return self._keep(self._guard.protect.tool_result(self._name, content))

    async def check_async(self, content: Any) -> Any:
        """Check as `check` does."""
        if content is None or content in self._checked:
            return content
        return self._keep(await self._guard.aio.protect.tool_result(self._name, content))

    def _keep(self, content: Any) -> Any:
        if isinstance(content, str):
            self._checked.append(content)
        return content


_STEERING = (GraphBubbleUp, ToolException)
"""Errors by which a tool steers the graph, or which LangChain makes a result that is checked."""


def _text_in(result: Any) -> Any:
    """Return the text of what a tool returned; `None` if it is checked as a message later."""
    # A pair has an artifact, which the model does not read.
    text = result[0] if isinstance(result, tuple) and len(result) == 2 else result
    return text if isinstance(text, str) else None


def _with_text(result: Any, text: Any) -> Any:
    return result if text is None else (text, result[1]) if isinstance(result, tuple) else text


def _refusal(call: Any, error: BlockedError) -> Any:
    return ToolMessage(content=refusal_text(error), tool_call_id=call["id"], name=call["name"], status="error")


def _results(result: Any) -> dict[Any, Any]:
    """Return what a tool gives: contents of messages, and values that a command puts into the state, by their places."""
    if isinstance(result, ToolMessage):
        return {id(result): result.content}
    found: dict[Any, Any] = {}
    for name, value in _updates_of(result).items():
        messages = value if isinstance(value, list) else [value]
        if any(isinstance(each, BaseMessage) for each in messages):
            found |= {id(each): each.content if isinstance(each, BaseMessage) else each for each in messages}
        else:
            found[name] = value
    return found


def _updates_of(result: Any) -> dict[str, Any]:
    update = getattr(result, "update", None)
    if isinstance(result, Command) and (update is None or isinstance(update, dict)):
        return update or {}
    raise BlockedError(failed_verdict("sdk.not_json", "The tool gave a result of a kind that cannot be judged."))


def _with_results(result: Any, checked: dict[Any, Any]) -> Any:
    if isinstance(result, ToolMessage):
        return _replaced(result, checked)
    update = {
        name: checked[name]
        if name in checked
        else [_replaced(each, checked) for each in value]
        if isinstance(value, list)
        else _replaced(value, checked)
        for name, value in _updates_of(result).items()
    }
    return Command(graph=result.graph, resume=result.resume, goto=result.goto, update=update or None)


def _replaced(message: Any, checked: dict[Any, Any]) -> Any:
    content = checked[id(message)]
    if not isinstance(message, BaseMessage):
        return content
    return message if content == message.content else message.model_copy(update={"content": content})


@contextmanager
def without_tokens(options: dict[str, Any]) -> Iterator[None]:
    """Keep what models show away from streams, while a node runs. `options` are its named arguments."""
    if options.get("config") is not None:
        options["config"] = _hide_tokens(options["config"])
    token = var_child_runnable_config.set(_hide_tokens(var_child_runnable_config.get() or {}))
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)


def _hide_tokens(config: Any) -> Any:
    # Handlers of streams have this method, and no others do.
    def is_kept(handler: Any) -> bool:
        return not hasattr(handler, "tap_output_aiter")

    callbacks = config.get("callbacks")
    if isinstance(callbacks, BaseCallbackManager):
        callbacks = callbacks.copy()
        callbacks.handlers = [each for each in callbacks.handlers if is_kept(each)]
        callbacks.inheritable_handlers = [each for each in callbacks.inheritable_handlers if is_kept(each)]
    elif callbacks is not None:
        callbacks = [each for each in callbacks if is_kept(each)]
    return {**config, "callbacks": callbacks, "tags": [*(config.get("tags") or []), TAG_NOSTREAM]}
