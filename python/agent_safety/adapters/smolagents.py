"""Guards agents of smolagents: prompts, tool calls, tool results and answers. Needs smolagents 1.20 or later.

    from smolagents import ToolCallingAgent
    from agent_safety.adapters.smolagents import guarded_tools, run

    agent = ToolCallingAgent(tools=guarded_tools([look_up]), model=model)
    answer = run(agent, "What is the weather?")

The model receives a notice that the call was blocked; a blocked prompt or answer raises `BlockedError`. The tools are
guarded when the code of a `CodeAgent` calls them, too; the code itself runs in the executor that you chose.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from .. import Guard, default_guard


def run(agent: Any, prompt: str, *, guard: Guard | None = None, **options: Any) -> Any:
    """Do what `agent.run` does, behind the guard. `stream=True` is refused, because its steps show unchecked text."""
    own = guard or default_guard("smolagents")
    if options.get("stream"):
        raise TypeError("A stream of steps cannot be guarded. Leave `stream` out.")
    answer = agent.run(own.protect.input(prompt), **options)
    return own.protect.output(answer) if isinstance(answer, str) else own.protect.tool_result("final_answer", answer)


def guarded_tools(tools: Sequence[Any], guard: Guard | None = None) -> list[Any]:
    """Return copies of the tools behind the guard. smolagents passes the error of a blocked call on to the model."""
    own = guard or default_guard("smolagents")
    return [_guarded(each, own) for each in tools]


def _guarded(tool: Any, guard: Guard) -> Any:
    made = copy.copy(tool)
    names = list(tool.inputs)

    def forward(*args: Any, **kwargs: Any) -> Any:
        allowed = guard.protect.tool(tool.name, {**dict(zip(names, args)), **kwargs})
        return guard.protect.tool_result(tool.name, tool.forward(**allowed))

    made.forward = forward
    return made
