"""Guards every `Crew` of this process: prompts, tool calls, tool results and answers. Needs crewai 1.15 or later.

    from agent_safety.adapters.crewai import guard_crews

    guard_crews()   # once, before a Crew is made

The agent receives a notice that the call was blocked; a blocked prompt or answer ends the run. The output of one
agent that becomes the context of another is a prompt of that agent, so that messages between agents are checked too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crewai.hooks import (
    HookAborted,
    register_after_llm_call_hook,
    register_after_tool_call_hook,
    register_before_llm_call_hook,
    register_before_tool_call_hook,
)

from .. import BlockedError, Guard, default_guard
from ..tools import refusal_text


def guard_crews(guard: Guard | None = None) -> Guard:
    """Register the hooks of a guard for every `Crew` of this process. Return the guard."""
    own = guard or default_guard("crewai")

    def before_tool_call(context: Any) -> None:
        allowed = _or_abort(own.protect.tool, context.tool_name, dict(context.tool_input))
        # CrewAI keeps this very record.
        if allowed != context.tool_input:
            context.tool_input.clear()
            context.tool_input.update(allowed)

    def after_tool_call(context: Any) -> str:
        # A text takes the place of the result; an error here would leave the result where it is.
        try:
            return own.protect.tool_result(context.tool_name, str(context.tool_result))
        except BlockedError as error:
            return refusal_text(error)
        except Exception:
            return "Refused: a fault in the guard."

    def before_llm_call(context: Any) -> None:
        for message in context.messages:
            if message.get("role") != "user":
                continue
            content = message.get("content")
            if isinstance(content, str):
                message["content"] = _or_abort(own.protect.input, content)
            for part in content if isinstance(content, list) else []:
                if isinstance(part, dict) and isinstance(part.get("text"), str):
                    part["text"] = _or_abort(own.protect.input, part["text"])

    def after_llm_call(context: Any) -> str | None:
        # The text of a tool call is no answer: its arguments are checked before the tool runs.
        is_call = "Action Input:" in str(context.response) and "Final Answer:" not in str(context.response)
        if isinstance(context.response, str) and context.response and not is_call:
            return str(_or_abort(own.protect.output, context.response))
        return None

    register_before_tool_call_hook(before_tool_call)
    register_after_tool_call_hook(after_tool_call)
    register_before_llm_call_hook(before_llm_call)
    register_after_llm_call_hook(after_llm_call)
    return own


def _or_abort(check: Callable[..., Any], *values: Any) -> Any:
    """CrewAI goes on after every other error of a hook."""
    try:
        return check(*values)
    except BlockedError as error:
        raise HookAborted(reason=refusal_text(error), source="agent-safety") from None
    except Exception as error:
        reason = f"Refused: {type(error).__name__} in the guard."
        raise HookAborted(reason=reason, source="agent-safety") from None
