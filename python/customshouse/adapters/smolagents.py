"""Guards agents of smolagents: prompts, tool calls, tool results and answers. Needs smolagents 1.20 or later.

    from smolagents import ToolCallingAgent
    from customshouse.adapters.smolagents import guarded_tools, run

    agent = ToolCallingAgent(tools=guarded_tools([look_up]), model=model)
    answer = run(agent, "What is the weather?")

The model receives a notice that the call was blocked; a blocked prompt or answer raises `BlockedError`. The tools are
guarded when the code of a `CodeAgent` calls them, too; the code itself runs in the executor that you chose.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from smolagents import ToolCallingAgent
from smolagents.utils import AgentToolExecutionError

from .. import BlockedError, Guard, default_guard
from .._tool_error import run_tool
from ..tools import refusal_text, with_notice
from ..verdict import failed_verdict
from ._held_calls import held_calls
from ._views import is_view, view_with


def run(agent: Any, prompt: str, *, guard: Guard | None = None, **options: Any) -> Any:
    """Do what `agent.run` does, behind the guard. `stream=True` is refused, because its steps show unchecked text."""
    own = guard or default_guard("smolagents")
    if options.get("stream"):
        raise TypeError("A stream of steps cannot be guarded. Leave `stream` out.")
    unguarded = [name for name, each in agent.managed_agents.items() if not is_view(each)]
    if unguarded:
        raise TypeError(f"{', '.join(unguarded)} would run unchecked. Pass managed agents through `guarded_agents`.")
    _check_additional(own, options.get("additional_args"))
    answer = _held_agent(agent).run(own.protect.input(prompt), **options)
    return own.protect.output(answer) if isinstance(answer, str) else own.protect.tool_result("final_answer", answer)


def _check_additional(guard: Guard, values: Any) -> None:
    """Check the values that smolagents writes into the prompt. They cannot be masked there."""
    text = str(values) if values else ""
    if text and guard.protect.input(text) != text:
        raise BlockedError(failed_verdict("sdk.masked", "`additional_args` would have to be masked, so they are blocked."))


def guarded_agents(agents: Sequence[Any], guard: Guard | None = None) -> list[Any]:
    """Return the agents for `managed_agents` behind the guard. Their tasks and reports are checked as messages.

    The tools of each agent need `guarded_tools` as well.
    """
    own = guard or default_guard("smolagents")
    return [_guarded_agent(each, own) for each in agents]


def _guarded_agent(agent: Any, guard: Guard) -> Any:
    manager = guard.options.agent_id
    held = _held_agent(agent)

    def call(self: Any, task: str, **options: Any) -> Any:
        _check_additional(guard, options.get("additional_args"))
        report = held(guard.protect.message(task, sender=manager, receiver=agent.name), **options)
        return guard.protect.message(str(report), sender=agent.name, receiver=manager)

    return view_with(agent, __call__=call)


def _held_agent(agent: Any) -> Any:
    """Return a view of an agent whose memory holds no arguments of a refused call.

    The model reads why a call was refused, and the other calls of the step run.
    """
    own = type(agent)
    # A `CodeAgent` writes its calls as code.
    if not isinstance(agent, ToolCallingAgent):
        return agent

    def guard_of(self: Any, tool: str) -> Guard | None:
        return getattr(self.tools.get(tool), GUARD, None)

    def process_tool_calls(self: Any, chat_message: Any, memory_step: Any) -> Any:
        for call in chat_message.tool_calls or ():
            guard, given = guard_of(self, call.function.name), call.function.arguments
            held = given if guard is None else held_calls(guard).hold(None, call.function.name, given)
            if held != given:
                call.function.arguments = held
                # The answer as the provider sent it, which may have the call as text.
                chat_message.content = chat_message.raw = memory_step.model_output = None
                memory_step.model_output_message = chat_message
        return own.process_tool_calls(self, chat_message, memory_step)

    def execute_tool_call(self: Any, tool_name: str, arguments: Any) -> Any:
        guard = guard_of(self, tool_name)
        refused = held_calls(guard).find_refusal(None, tool_name, arguments) if guard is not None else None
        if refused is not None:
            return refusal_text(refused)
        try:
            return own.execute_tool_call(self, tool_name, arguments)
        except AgentToolExecutionError as error:
            if isinstance(error.__cause__, BlockedError):
                return refusal_text(error.__cause__)
            raise

    return view_with(agent, process_tool_calls=process_tool_calls, execute_tool_call=execute_tool_call)


GUARD = "_customshouse_guard"
"""The member of a guarded tool that has its guard."""


def guarded_tools(tools: Sequence[Any], guard: Guard | None = None) -> list[Any]:
    """Return copies of the tools behind the guard. smolagents passes the error of a blocked call on to the model."""
    own = guard or default_guard("smolagents")
    return [_guarded(each, own) for each in tools]


def _guarded(tool: Any, guard: Guard) -> Any:
    made = copy.copy(tool)
    names = list(tool.inputs)

    def forward(*args: Any, **kwargs: Any) -> Any:
        try:
            allowed = held_calls(guard).decide(None, tool.name, {**dict(zip(names, args)), **kwargs})
            result = run_tool(guard.protect, tool.name, lambda: tool.forward(**allowed))
            return guard.protect.tool_result(tool.name, result)
        except BlockedError as error:
            raise with_notice(error) from None

    made.forward = forward
    setattr(made, GUARD, guard)
    return made
