"""Messages and tool calls of LangChain and LangGraph."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.types import Command

from .. import BlockedError, Guard
from ..tools import refusal_text
from ..verdict import failed_verdict


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
    return last if isinstance(last, AIMessage) and last.text else None


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
    return [] if last is None else _changed(last, guard.protect.output(last.text))


async def acheck_output(guard: Guard, messages: Sequence[Any]) -> list[Any]:
    """Check as `check_output` does."""
    last = _last_answer(messages)
    return [] if last is None else _changed(last, await guard.aio.protect.output(last.text))


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
