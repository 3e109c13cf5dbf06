"""Guards every `Crew` of this process: prompts, tool calls, tool results and answers. Needs crewai 1.15 or later.

    from customshouse.adapters.crewai import guard_crews

    guard_crews()   # once, before a Crew is made

The agent receives a notice that the call was blocked; a blocked prompt or answer ends the run. The output of one
agent that becomes the context of another is a prompt of that agent, so that messages between agents are checked too.
Streams and listeners of events receive each text of a model when it is whole and checked.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from typing import Any

from crewai.events import LLMCallCompletedEvent, LLMCallFailedEvent, LLMStreamChunkEvent, crewai_event_bus
from crewai.events.types.llm_events import LLMThinkingChunkEvent
from crewai.events.types.tool_usage_events import ToolUsageEvent
from crewai.hooks import (
    HookAborted,
    register_after_llm_call_hook,
    register_after_tool_call_hook,
    register_before_llm_call_hook,
    register_before_tool_call_hook,
)
from crewai.hooks.dispatch import InterceptionPoint, register
from crewai.utilities.string_utils import sanitize_tool_name

from .. import BlockedError, Guard, default_guard
from ..tools import refusal_text
from ._held_calls import HeldCalls, held_calls, keep, replace_arguments
from ._prompts import PromptTexts
from ._shown import write_json


def guard_crews(guard: Guard | None = None) -> Guard:
    """Register the hooks of a guard for every `Crew` of this process. Return the guard."""
    own = guard or default_guard("crewai")
    answers = _Answers(own)
    prompts = PromptTexts(own)

    held = held_calls(own)
    refused = _RefusedCalls()

    def before_tool_call(context: Any) -> None:
        given = dict(context.tool_input)
        try:
            allowed = held.decide(None, context.tool_name, given)
        except Exception as error:
            refused.put(context, given, _notice_of(error))
            raise HookAborted(reason=_notice_of(error), source="customshouse") from None
        # CrewAI keeps this very record.
        if allowed != context.tool_input:
            context.tool_input.clear()
            context.tool_input.update(allowed)

    def after_tool_call(context: Any) -> str:
        # A text takes the place of the result; an error here would leave the result where it is.
        notice = refused.take_notice(context)
        if notice is not None:
            return notice
        try:
            return own.protect.tool_result(context.tool_name, str(context.tool_result))
        except BlockedError as error:
            return refusal_text(error)
        except Exception:
            return "Refused: a fault in the guard."

    def before_llm_call(context: Any) -> None:
        for message in context.messages:
            refused.leave_out(message)
            if message.get("role") != "user":
                continue
            message["content"] = _or_abort(prompts.map, message.get("content"))

    def after_llm_call(context: Any) -> str | None:
        if isinstance(context.response, str) and context.response and not _is_call(context.response):
            return str(_or_abort(answers.take, context.response))
        if isinstance(context.response, str) and _is_call(context.response):
            return str(_or_abort(_hold_text, held, context.response))
        return None

    def after_step(context: Any) -> None:
        # After too many steps CrewAI takes any text for the answer, a call too, which no other hook checks.
        output = context.payload
        raw = getattr(output, "raw", None)
        if context.kind != "task" or not isinstance(raw, str) or not raw:
            return
        checked = _or_abort(own.protect.output, raw)
        if checked == raw:
            return
        if output.pydantic is not None or output.json_dict is not None:
            raise HookAborted(reason="Refused: a structured output would have to be masked.", source="customshouse")
        output.raw = checked

    register_before_tool_call_hook(before_tool_call)
    register_after_tool_call_hook(after_tool_call)
    register_before_llm_call_hook(before_llm_call)
    register_after_llm_call_hook(after_llm_call)
    register(InterceptionPoint.POST_STEP, after_step)
    _hold_events(answers)
    return own


def _is_call(text: str) -> bool:
    """Return whether a text is a tool call and no answer: its arguments are checked before the tool runs."""
    return "Action Input:" in text and "Final Answer:" not in text


# CrewAI reads a text's last action.
_ACTION = re.compile(r"Action: *([^\n]*)\nAction Input:[ \t]*(\{.*\})", re.DOTALL)


def _hold_text(held: HeldCalls, text: str) -> str:
    """Return the text of a call with the arguments that the conversation may hold."""
    found = _ACTION.search(text)
    if found is None:
        return text
    try:
        given = json.loads(found[2])
    except ValueError:
        return text
    kept = held.hold(None, sanitize_tool_name(found[1].strip()), given)
    # The thought before the call may repeat its arguments.
    return text if kept == given else f"Action: {found[1]}\nAction Input: {json.dumps(kept)}"


class _RefusedCalls:
    """The notices of refused calls, and their places in a conversation."""

    def __init__(self) -> None:
        self._notices: dict[int, str] = {}
        self._calls: dict[tuple[str, str], bool] = {}

    def put(self, context: Any, given: Any, notice: str) -> None:
        keep(self._notices, id(context.tool_input), notice)
        keep(self._calls, _digest(context.tool_name, given), True)
        # CrewAI keeps this very record.
        context.tool_input.clear()

    def take_notice(self, context: Any) -> str | None:
        """Return the notice of a refused call, for which CrewAI runs the hook behind a tool, too."""
        return self._notices.pop(id(context.tool_input), None)

    def leave_out(self, message: Any) -> None:
        """Take the arguments of refused calls out of a message of the model."""
        for call in message.get("tool_calls") or ():
            function = call.get("function", {})
            try:
                given = json.loads(function.get("arguments") or "{}")
            except ValueError:
                continue
            if given and _digest(str(function.get("name")), given) in self._calls:
                for name in ("tool_calls", "raw_tool_call_parts"):
                    if name in message:
                        message[name] = replace_arguments(message[name], given, {})


def _digest(tool: str, arguments: Any) -> tuple[str, str]:
    return sanitize_tool_name(tool), hashlib.sha256(write_json(arguments).encode("utf-8", "backslashreplace")).hexdigest()


def _notice_of(error: Exception) -> str:
    return refusal_text(error) if isinstance(error, BlockedError) else f"Refused: {type(error).__name__} in the guard."


def _or_abort(check: Callable[..., Any], *values: Any) -> Any:
    """CrewAI goes on after every other error of a hook."""
    try:
        return check(*values)
    except Exception as error:
        raise HookAborted(reason=_notice_of(error), source="customshouse") from None


class _Answers:
    """Checks an answer once: first for the events of a model call, and then for the hook behind it."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._checked: dict[str, str | Exception] = {}

    def show(self, text: str) -> str | None:
        """Return what events may show of a text, or `None`. The hook behind the call raises the error."""
        try:
            found: str | Exception = self._guard.protect.output(text)
        except Exception as error:
            found = error
        self._checked[text] = found
        while len(self._checked) > ANSWERS_MAX:
            self._checked.pop(next(iter(self._checked)), None)
        return found if isinstance(found, str) else None

    def show_value(self, value: Any) -> Any:
        """Return what events may show of the arguments of a call."""
        text = value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)
        try:
            checked = self._guard.protect.output(text)
            return value if checked == text else json.loads(checked) if isinstance(value, dict) else checked
        except Exception:
            return {}

    def take(self, text: str) -> str:
        """Return the checked text of an answer. Raise the error of a blocked one."""
        found = self._checked.pop(text, None)
        if isinstance(found, Exception):
            raise found
        return self._guard.protect.output(text) if found is None else found


ANSWERS_MAX = 64
"""Answers that are kept between an event and its hook. Others are checked again."""
CALLS_MAX = 1_000
"""Model calls whose text is held. The text of the oldest is dropped."""


def _hold_events(answers: _Answers) -> None:
    """Let the event bus hold the pieces of a model's text until the text is whole and checked."""
    emit = type(crewai_event_bus).emit
    held: dict[Any, tuple[Any, list[str]]] = {}

    def emit_checked(source: Any, event: Any) -> Any:
        if isinstance(event, (LLMStreamChunkEvent, LLMThinkingChunkEvent)):
            # Pieces of a tool call are not shown. The events of its tool show it.
            if not getattr(event, "tool_call", None):
                held.setdefault((event.call_id, type(event)), (event, []))[1].append(event.chunk)
            while len(held) > CALLS_MAX:
                held.pop(next(iter(held)), None)
            return None
        if isinstance(event, (LLMCallCompletedEvent, LLMCallFailedEvent)):
            thought = held.pop((event.call_id, LLMThinkingChunkEvent), None)
            answer = held.pop((event.call_id, LLMStreamChunkEvent), None)
            if isinstance(event, LLMCallCompletedEvent):
                if isinstance(event.response, list):
                    event.response = answers.show_value(event.response)
                text = _text_of(event.response)
                shown = answers.show(text) if text else None
                if text and shown != text:
                    event.response = shown or "Refused."
                if thought is not None:
                    emit_whole(source, thought[0], answers.show("".join(thought[1])))
                if answer is not None:
                    emit_whole(source, answer[0], shown if text else answers.show("".join(answer[1])))
        if isinstance(event, ToolUsageEvent):
            event.tool_args = answers.show_value(event.tool_args)
        return emit(crewai_event_bus, source, event)

    def emit_whole(source: Any, event: Any, text: str | None) -> None:
        if text:
            event.chunk = text
            emit(crewai_event_bus, source, event)

    crewai_event_bus.emit = emit_checked


def _text_of(response: Any) -> str:
    dump = getattr(response, "model_dump_json", None)
    return str(dump()) if dump else response if isinstance(response, str) else ""
