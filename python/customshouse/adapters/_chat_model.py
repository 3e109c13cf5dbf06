"""Chat models of LangChain whose answers are checked before callbacks and tracers receive them."""

from __future__ import annotations

import functools
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.chat_models import generate_from_stream
from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult

from .. import Guard
from ._messages import KnownAnswers, acheck_message, check_message
from ._views import view_with


def guard_chat_model(model: Any, guard: Guard, known: KnownAnswers) -> Any:
    """Return a view of a chat model that returns checked answers, and notes them. Another model is returned as it is."""
    if not isinstance(model, BaseChatModel):
        return model
    own = type(model)

    # Wrapped, because LangChain reads these methods' parameters. Without a run, the model tells callbacks nothing itself.
    @functools.wraps(own._generate)
    def generate(view: Any, messages: Any, stop: Any = None, run_manager: Any = None, **options: Any) -> ChatResult:
        result = own._generate(view, messages, stop=stop, **options)
        return _with_messages(result, [check_message(guard, each.message, known) for each in result.generations])

    @functools.wraps(own._agenerate)
    async def agenerate(view: Any, messages: Any, stop: Any = None, run_manager: Any = None, **options: Any) -> ChatResult:
        result = await own._agenerate(view, messages, stop=stop, **options)
        return _with_messages(result, [await acheck_message(guard, each.message, known) for each in result.generations])

    @functools.wraps(own._stream)
    def stream(view: Any, messages: Any, stop: Any = None, run_manager: Any = None, **options: Any) -> Iterator[Any]:
        chunks = list(own._stream(view, messages, stop=stop, **options))
        message = _message_of(chunks)
        yield from _with_message(chunks, message, message and check_message(guard, message, known))

    @functools.wraps(own._astream)
    async def astream(
        view: Any, messages: Any, stop: Any = None, run_manager: Any = None, **options: Any
    ) -> AsyncIterator[Any]:
        chunks = [each async for each in own._astream(view, messages, stop=stop, **options)]
        message = _message_of(chunks)
        for chunk in _with_message(chunks, message, message and await acheck_message(guard, message, known)):
            yield chunk

    # LangChain asks whether a model streams by comparing a method with that of its base class.
    guarded = {"_generate": generate, "_agenerate": agenerate, "_stream": stream, "_astream": astream}
    members = {name: each for name, each in guarded.items() if _is_overridden(own, name)}
    # A provider's own events would pass the methods above by.
    events = ("_stream_chat_model_events", "_astream_chat_model_events")
    return view_with(model, **members, **{name: None for name in events if hasattr(own, name)})


def _is_overridden(own: type, name: str) -> bool:
    return getattr(own, name) is not getattr(BaseChatModel, name)


def _with_messages(result: ChatResult, messages: list[Any]) -> ChatResult:
    pairs = zip(result.generations, messages, strict=True)
    changed = [each.model_copy(update={"message": message, "text": message.text}) for each, message in pairs]
    return result.model_copy(update={"generations": changed})


def _message_of(chunks: list[Any]) -> Any:
    return generate_from_stream(iter(chunks)).generations[0].message if chunks else None


def _with_message(chunks: list[Any], message: Any, checked: Any) -> list[Any]:
    """Return the chunks of a message if it is unchanged, or else one chunk that holds the checked message."""
    if checked is message:
        return chunks
    members = {name: each for name, each in vars(checked).items() if name in ("content", "additional_kwargs", "id")}
    calls = [
        {"name": each["name"], "args": json.dumps(each["args"]), "id": each["id"], "index": at}
        for at, each in enumerate(checked.tool_calls)
    ]
    chunk = AIMessageChunk(**members, usage_metadata=checked.usage_metadata, tool_call_chunks=calls)
    return [ChatGenerationChunk(message=chunk)]
