"""Guards every crew of this process: what models are asked and answer, each tool call, and each result.

    import service_crewai  # once, before crews are made

A call that is refused is told to the agent as a failed one; a question or an answer that is refused ends the run. Needs crewai
1.15 or later, whose hooks can end a run. This file is yours to change.
"""

from guard import Guard, Refused

from crewai.hooks import (
    HookAborted,
    register_after_llm_call_hook,
    register_after_tool_call_hook,
    register_before_llm_call_hook,
    register_before_tool_call_hook,
)

guard = Guard(agent_id="crewai")


def _or_abort(check, *args):
    """CrewAI goes on after every other error of a hook."""
    try:
        return check(*args)
    except Refused as refused:
        raise HookAborted(reason=str(refused), source="service") from None
    except Exception as error:
        raise HookAborted(reason=f"Refused: {type(error).__name__} in the guard.", source="service") from None


def before_tool_call(context):
    allowed = _or_abort(guard.check_call, context.tool_name, dict(context.tool_input))
    # CrewAI keeps this very record.
    if allowed != context.tool_input:
        context.tool_input.clear()
        context.tool_input.update(allowed)


def after_tool_call(context):
    """A text takes the place of the result; an error here would leave the result where it is."""
    try:
        return guard.check_result(context.tool_name, str(context.tool_result))
    except Exception as refused:
        return str(refused) if isinstance(refused, Refused) else "Refused: a fault in the guard."


def before_llm_call(context):
    for message in context.messages:
        if message.get("role") == "user" and isinstance(message.get("content"), str):
            message["content"] = _or_abort(guard.check_input, message["content"])


def after_llm_call(context):
    if isinstance(context.response, str) and context.response:
        return _or_abort(guard.check_output, context.response)
    return None


register_before_tool_call_hook(before_tool_call)
register_after_tool_call_hook(after_tool_call)
register_before_llm_call_hook(before_llm_call)
register_after_llm_call_hook(after_llm_call)
