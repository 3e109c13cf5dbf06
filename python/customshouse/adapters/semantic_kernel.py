"""Guards a kernel of Semantic Kernel: prompts, function calls, results and answers. Needs semantic-kernel 1.30 or later.

    from semantic_kernel import Kernel
    from customshouse.adapters.semantic_kernel import guard_kernel, guarded_prompt

    kernel = guard_kernel(Kernel())
    answer = await agent.get_response(messages=await guarded_prompt("What is the weather?"))

A blocked call of a function raises `BlockedError`; a model that made the call receives a notice. Answers of the models
of the kernel are checked, and `invoke_stream` shows an answer when it is whole and checked. Prompts of functions are
checked by the kernel itself, and `guarded_prompt` checks what goes to an agent. `guarded_answer` and `guarded_stream`
check what comes from an agent whose model is not in the kernel, as those of Azure AI, Assistants and Responses.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Awaitable
from contextvars import ContextVar
from typing import Any

from semantic_kernel.connectors.ai.chat_completion_client_base import ChatCompletionClientBase
from semantic_kernel.connectors.ai.text_completion_client_base import TextCompletionClientBase
from semantic_kernel.contents import FunctionCallContent
from semantic_kernel.filters.filter_types import FilterTypes
from semantic_kernel.functions import FunctionResult, KernelFunctionFromPrompt
from semantic_kernel.services.ai_service_selector import AIServiceSelector

from .. import BlockedError, Guard, default_guard
from .._tool_error import run_tool_async
from ..tools import refusal_text, with_notice
from ._held_calls import held_calls
from ._shown import write_json
from ._views import is_view, view_with


def guard_kernel(kernel: Any, guard: Guard | None = None) -> Any:
    """Add the filters of a guard to a kernel, and guard its models. Return the kernel."""
    own = guard or default_guard("semantic-kernel")

    # Semantic Kernel passes the second parameter by its name, `next`.
    async def on_function(context: Any, next: Any) -> None:
        if isinstance(context.function, KernelFunctionFromPrompt):
            await next(context)
            return
        try:
            await run_function(context, next)
        except BlockedError as error:
            _refusals.get([]).append(error)
            raise with_notice(error) from None

    async def on_call(context: Any, next: Any) -> None:
        refusals: list[BlockedError] = []
        _refusals.set(refusals)
        await next(context)
        if refusals:
            value = refusal_text(refusals[0])
            context.function_result = FunctionResult(function=context.function.metadata, value=value)
            # The conversation keeps this very record. Models elsewhere did not hold the call.
            context.function_call_content.arguments = "{}"

    async def run_function(context: Any, next: Any) -> None:
        name = context.function.fully_qualified_name
        arguments = dict(context.arguments)
        # The filter does not see a call's id.
        allowed = await held_calls(own).adecide(None, name, arguments)
        if allowed != arguments:
            context.arguments.clear()
            context.arguments.update(allowed)
        await run_tool_async(own.aio.protect, name, lambda: next(context))
        value = None if context.result is None else context.result.value
        checked = await own.aio.protect.tool_result(name, value)
        if checked is not value:
            context.result = FunctionResult(function=context.function.metadata, value=checked)

    async def on_prompt(context: Any, next: Any) -> None:
        await next(context)
        context.rendered_prompt = await own.aio.protect.input(context.rendered_prompt)

    kernel.add_filter(FilterTypes.FUNCTION_INVOCATION, on_function)
    kernel.add_filter(FilterTypes.AUTO_FUNCTION_INVOCATION, on_call)
    kernel.add_filter(FilterTypes.PROMPT_RENDERING, on_prompt)
    kernel.ai_service_selector = _GuardedSelector(kernel.ai_service_selector, own)
    return kernel


_refusals: ContextVar[list[BlockedError]] = ContextVar("refusals")
"""The refusals of one call. The kernel would hand on an error as text."""


async def guarded_prompt(prompt: str, guard: Guard | None = None) -> str:
    """Return the prompt that may go to an agent. Raise `BlockedError`."""
    return await (guard or default_guard("semantic-kernel")).aio.protect.input(prompt)


async def guarded_answer(answer: Awaitable[Any], guard: Guard | None = None) -> Any:
    """Await an answer of an agent, and return it with checked text. Raise `BlockedError`."""
    own = guard or default_guard("semantic-kernel")
    response = await answer
    await _check_message(own, getattr(response, "message", response))
    return response


async def guarded_stream(stream: AsyncIterable[Any], guard: Guard | None = None) -> AsyncIterator[Any]:
    """Yield the messages of `invoke_stream` when all of them have arrived and their text is checked."""
    own = guard or default_guard("semantic-kernel")
    responses = [each async for each in stream]
    await _check_pieces(own, [getattr(each, "message", each) for each in responses])
    for each in responses:
        yield each


class _GuardedSelector(AIServiceSelector):
    """Selects the service that another selector does, and returns it behind the guard."""

    def __init__(self, selector: Any, guard: Guard) -> None:
        self._selector = selector
        self._guard = guard
        self._known: dict[int, tuple[Any, Any]] = {}

    def __deepcopy__(self, memo: Any) -> Any:
        # A clone of a kernel has the same guard.
        return _GuardedSelector(self._selector, self._guard)

    def select_ai_service(self, *values: Any, **options: Any) -> Any:
        service, settings = self._selector.select_ai_service(*values, **options)
        if is_view(service) or not isinstance(service, (ChatCompletionClientBase, TextCompletionClientBase)):
            return service, settings
        if id(service) not in self._known:
            self._known[id(service)] = (service, _guarded_service(service, self._guard))
        return self._known[id(service)][1], settings


def _guarded_service(service: Any, guard: Guard) -> Any:
    own = type(service)

    def whole(name: str) -> Any:
        async def get(self: Any, *values: Any, **options: Any) -> Any:
            messages = await getattr(own, name)(self, *values, **options)
            for each in messages:
                await _check_message(guard, each)
                for call in _calls_in(each):
                    await _hold_call(guard, [(each, call)])
            return messages

        return get

    def pieces(name: str) -> Any:
        async def get(self: Any, *values: Any, **options: Any) -> Any:
            held = [each async for each in getattr(own, name)(self, *values, **options)]
            whole = [message for messages in held for message in messages]
            await _check_pieces(guard, whole)
            await _hold_pieces(guard, whole)
            for each in held:
                yield each

        return get

    names = {"_inner_get_chat_message_contents": whole, "_inner_get_streaming_chat_message_contents": pieces}
    names |= {"_inner_get_text_contents": whole, "_inner_get_streaming_text_contents": pieces}
    return view_with(service, **{name: make(name) for name, make in names.items() if hasattr(own, name)})


def _texts_of(message: Any) -> list[Any]:
    items = getattr(message, "items", [message])
    return [each for each in items if isinstance(getattr(each, "text", None), str) and each.text]


async def _check_message(guard: Guard, message: Any) -> None:
    for item in _texts_of(message):
        await _check_items(guard, [(message, item)])


async def _check_pieces(guard: Guard, messages: list[Any]) -> None:
    """Check each text that the messages of a stream hold together. The first of its pieces then has all of it."""
    texts: dict[Any, list[tuple[Any, Any]]] = {}
    for message in messages:
        for item in _texts_of(message):
            texts.setdefault((getattr(message, "choice_index", 0), type(item)), []).append((message, item))
    for pieces in texts.values():
        await _check_items(guard, pieces)


def _calls_in(message: Any) -> list[Any]:
    return [each for each in getattr(message, "items", ()) if isinstance(each, FunctionCallContent)]


async def _hold_pieces(guard: Guard, messages: list[Any]) -> None:
    """Hold each call that the messages of a stream have together. Only its first piece has an id."""
    calls: dict[Any, list[tuple[Any, Any]]] = {}
    last = None
    for message in messages:
        for call in _calls_in(message):
            last = call.id or last
            place = (getattr(message, "choice_index", 0), last if call.index is None else call.index)
            calls.setdefault(place, []).append((message, call))
    for pieces in calls.values():
        await _hold_call(guard, pieces)


async def _hold_call(guard: Guard, pieces: list[tuple[Any, Any]]) -> None:
    parts = [call.arguments or "" for _, call in pieces]
    written = "".join(parts) if all(isinstance(each, str) for each in parts) else write_json(parts[0])
    name = next((call.name for _, call in pieces if call.name), "")
    held = await held_calls(guard).ahold_json(None, name, written)
    if held == written:
        return
    for place, (message, call) in enumerate(pieces):
        call.arguments = "" if place else held
        message.inner_content = call.inner_content = None


async def _check_items(guard: Guard, pieces: list[tuple[Any, Any]]) -> None:
    text = "".join(item.text for _, item in pieces)
    checked = await guard.aio.protect.output(text)
    for place, (message, item) in enumerate(pieces):
        item.text = "" if place else checked
        if checked != text:
            # The answer as the provider sent it.
            message.inner_content = item.inner_content = None
