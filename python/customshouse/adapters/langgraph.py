"""Guards graphs of LangGraph: nodes for prompts, models and tools. Needs langgraph 1.0 or later.

    from customshouse.adapters.langgraph import GuardNodes

    nodes = GuardNodes()
    graph.add_node("check_input", nodes.check_input)           # before the model
    graph.add_node("model", nodes.model_node(call_model))      # in place of call_model
    graph.add_node("tools", nodes.tool_node(tools))            # in place of ToolNode(tools)

The model receives a notice that the call was blocked; a blocked prompt or answer raises `BlockedError`. `stream` and
`astream` show an answer and its reasoning when they are whole and checked, in every mode. Text that a node writes with
a stream writer is not checked. Messages hold no arguments of a refused call that an answer could not show.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.runnables import Runnable, RunnableLambda
from langgraph.prebuilt import ToolNode
from langgraph.types import Command

from .. import BlockedError, Guard, default_guard
from ..verdict import failed_verdict
from ._messages import (
    acheck_input,
    acheck_tool_call,
    ahold_calls,
    check_input,
    check_tool_call,
    hold_calls,
    map_texts,
    with_held_calls,
    without_tokens,
)
from ._prompts import PromptTexts
from ._shown import write_json


class GuardNodes:
    """The nodes of one conversation."""

    def __init__(self, guard: Guard | None = None) -> None:
        own = self.guard = guard or default_guard("langgraph")
        prompts = PromptTexts(own)

        def input_node(state: Any) -> Any:
            return {"messages": check_input(prompts, state["messages"])}

        async def ainput_node(state: Any) -> Any:
            return {"messages": await acheck_input(prompts, state["messages"])}

        self.check_input = RunnableLambda(input_node, ainput_node)
        """A node that checks what people have said, each text once."""

    def model_node(self, node: Any) -> Any:
        """Return a node that does what this one does, and checks every text in its result before any stream shows it.

        Tokens of its models are not streamed. Use it for each node that calls a model.
        """
        if isinstance(node, Runnable):
            invoke = self.model_node(lambda state, config: node.invoke(state, config))
            return RunnableLambda(invoke, self.model_node(_async_invoke(node)))
        function = node if inspect.isroutine(node) else getattr(node, "__call__", node)
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError("A generator cannot be guarded as a node. Return the whole update.")
        if inspect.iscoroutinefunction(function):

            @functools.wraps(node)
            async def acall(*values: Any, **options: Any) -> Any:
                with without_tokens(options):
                    result = await node(*values, **options)
                known = _messages_of(values)
                texts = _texts_of(result, known)
                checked = {each: await self.guard.aio.protect.output(each) for each in texts}
                return _with_texts(result, known, checked, await ahold_calls(self.guard, _new_messages(result, known)))

            return acall

        @functools.wraps(node)
        def call(*values: Any, **options: Any) -> Any:
            with without_tokens(options):
                result = node(*values, **options)
            known = _messages_of(values)
            texts = _texts_of(result, known)
            checked = {each: self.guard.protect.output(each) for each in texts}
            return _with_texts(result, known, checked, hold_calls(self.guard, _new_messages(result, known)))

        return call

    def tool_node(self, tools: Sequence[Any], **options: Any) -> Any:
        """Return a `ToolNode` in which every call and every result is checked."""

        def call(request: Any, handler: Callable[[Any], Any]) -> Any:
            return check_tool_call(self.guard, request, handler)

        async def acall(request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
            return await acheck_tool_call(self.guard, request, handler)

        return ToolNode(tools, wrap_tool_call=call, awrap_tool_call=acall, **options)


def _async_invoke(node: Any) -> Any:
    async def ainvoke(state: Any, config: Any) -> Any:
        return await node.ainvoke(state, config)

    return ainvoke


def _messages_of(values: Any) -> frozenset[int]:
    """Return the identities of the messages that a node was given, which are not its own."""
    found: set[int] = set()

    def look(value: Any) -> None:
        if isinstance(value, BaseMessage):
            found.add(id(value))
        elif isinstance(value, dict):
            look(list(value.values()))
        elif isinstance(value, (list, tuple)):
            for each in value:
                look(each)

    look([vars(each) if hasattr(each, "__dict__") else each for each in values])
    return frozenset(found)


def _texts_of(result: Any, known: frozenset[int]) -> list[str]:
    found: dict[str, None] = {}

    def note(text: str) -> str:
        found[text] = None
        return text

    _map_texts(result, known, note)
    return list(found)


def _new_messages(result: Any, known: frozenset[int]) -> list[Any]:
    found: list[Any] = []

    def note(message: Any) -> Any:
        found.append(message)
        return message

    _map_texts(result, known, lambda text: text, note)
    return found


def _with_texts(result: Any, known: frozenset[int], checked: dict[str, str], held: dict[int, Any]) -> Any:
    return _map_texts(result, known, lambda text: checked[text], lambda message: with_held_calls(message, held))


def _map_texts(
    value: Any, known: frozenset[int], change: Callable[[str], str], finish: Callable[[Any], Any] = lambda message: message
) -> Any:
    """Return what a node returned with each text changed. Raise `BlockedError` for what cannot be read."""
    if isinstance(value, str):
        return change(value) if value else value
    if isinstance(value, BaseMessage):
        if id(value) in known or isinstance(value, ToolMessage):
            return value
        return finish(map_texts(value, lambda text: change(text) if text else text))
    if isinstance(value, dict):
        return {name: _map_texts(each, known, change, finish) for name, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_map_texts(each, known, change, finish) for each in value)
    if isinstance(value, Command):
        return replace(value, update=_map_texts(value.update, known, change, finish))
    if value is None or isinstance(value, (bool, int, float)):
        return value
    text = write_json(value)
    if change(text) != text:
        reason = f"A value of the type `{type(value).__name__}` would have to be masked, so it is blocked. Return a dict."
        raise BlockedError(failed_verdict("sdk.structured_output", reason))
    return value
