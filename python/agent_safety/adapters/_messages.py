"""Messages and tool calls of LangChain and LangGraph."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables.config import var_child_runnable_config
from langgraph.constants import TAG_NOSTREAM
from langgraph.types import Command

from .. import BlockedError, Guard
from ..tools import refusal_text
from ..verdict import failed_verdict


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


def _changed(message: Any, text: str) -> list[Any]:
    return [] if text == message.text else [message.model_copy(update={"content": text})]


def _new_prompts(messages: Sequence[Any]) -> list[Any]:
    """Return what people have said since the model last answered."""
    found: list[Any] = []
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            break
        if isinstance(message, HumanMessage):
            found.append(message)
    return found


def _last_answer(messages: Sequence[Any]) -> Any | None:
    last = messages[-1] if messages else None
    return last if isinstance(last, AIMessage) else None


def check_input(guard: Guard, messages: Sequence[Any]) -> list[Any]:
    """Return the prompts that are to be masked. Raise `BlockedError`."""
    return [each for one in _new_prompts(messages) for each in _changed(one, guard.protect.input(one.text))]


async def acheck_input(guard: Guard, messages: Sequence[Any]) -> list[Any]:
    """Check as `check_input` does."""
    found: list[Any] = []
    for one in _new_prompts(messages):
        found += _changed(one, await guard.aio.protect.input(one.text))
    return found


def check_output(guard: Guard, messages: Sequence[Any]) -> list[Any]:
    """Return the last answer if it is to be masked. Raise `BlockedError`."""
    last = _last_answer(messages)
    return [] if last is None else _with_texts(last, {each: guard.protect.output(each) for each in _texts_of(last)})


async def acheck_output(guard: Guard, messages: Sequence[Any]) -> list[Any]:
    """Check as `check_output` does."""
    last = _last_answer(messages)
    if last is None:
        return []
    return _with_texts(last, {each: await guard.aio.protect.output(each) for each in _texts_of(last)})


def check_tool_call(guard: Guard, request: Any, handler: Callable[[Any], Any]) -> Any:
    """Run a tool call behind the guard. The model receives a notice of a block."""
    call = request.tool_call
    try:
        allowed = guard.protect.tool(call["name"], call["args"])
        result = handler(request.override(tool_call={**call, "args": allowed}))
        checked = {id(each): guard.protect.tool_result(call["name"], each.content) for each in _results(result)}
        return _with_contents(result, checked)
    except BlockedError as error:
        return _refusal(call, error)


async def acheck_tool_call(guard: Guard, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
    """Run as `check_tool_call` does."""
    call = request.tool_call
    try:
        allowed = await guard.aio.protect.tool(call["name"], call["args"])
        result = await handler(request.override(tool_call={**call, "args": allowed}))
        checked = {
            id(each): await guard.aio.protect.tool_result(call["name"], each.content) for each in _results(result)
        }
        return _with_contents(result, checked)
    except BlockedError as error:
        return _refusal(call, error)


def _refusal(call: Any, error: BlockedError) -> Any:
    return ToolMessage(content=refusal_text(error), tool_call_id=call["id"], name=call["name"], status="error")


def _results(result: Any) -> list[Any]:
    if isinstance(result, ToolMessage):
        return [result]
    if isinstance(result, Command) and isinstance(result.update, dict):
        return [each for each in result.update.get("messages", []) if isinstance(each, ToolMessage)]
    raise BlockedError(failed_verdict("sdk.not_json", "The tool gave a result of a kind that cannot be judged."))


def _with_contents(result: Any, contents: dict[int, Any]) -> Any:
    def replaced(message: Any) -> Any:
        return message.model_copy(update={"content": contents[id(message)]}) if id(message) in contents else message

    if isinstance(result, ToolMessage):
        return replaced(result)
    messages = [replaced(each) for each in result.update.get("messages", [])]
    update = {**result.update, **({"messages": messages} if messages else {})}
    return Command(graph=result.graph, resume=result.resume, goto=result.goto, update=update)


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
