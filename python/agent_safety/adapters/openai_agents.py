"""Guards agents of the OpenAI Agents SDK: prompts, tool calls, tool results and answers. Needs openai-agents 0.4.

    from agent_safety.adapters.openai_agents import run

    result = await run(agent, "What is the weather?")

The model receives a notice that the call was blocked; a blocked prompt or answer raises `BlockedError`. Agents that
are handed over to are guarded too. Tools that run elsewhere (hosted ones, MCP servers) cannot be checked here: they
are refused unless you name them in `unguarded`.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Collection
from typing import Any

from agents import Agent, FunctionTool, Runner

from .. import BlockedError, Guard, default_guard
from ..tools import refusal_text
from ..verdict import failed_verdict


async def run(
    agent: Any, prompt: Any, *, guard: Guard | None = None, unguarded: Collection[str] = (), **options: Any
) -> Any:
    """Do what `Runner.run` does, behind the guard."""
    own = guard or default_guard("openai-agents")
    asked = await _check_prompt(own, prompt)
    result = await Runner.run(guarded_agent(agent, own, unguarded), asked, **options)
    output = result.final_output
    shown = output if isinstance(output, str) else _plain(output)
    checked = await own.aio.protect.output(shown)
    if checked != shown:
        if not isinstance(output, str):
            reason = "A structured answer would have to be masked, so it is blocked."
            raise BlockedError(failed_verdict("sdk.structured_output", reason))
        result.final_output = checked
    return result


def guarded_agent(agent: Any, guard: Guard | None = None, unguarded: Collection[str] = ()) -> Any:
    """Return the same agent with guarded tools and handoffs. Raise `BlockedError` if some cannot be guarded."""
    return _guarded(agent, guard or default_guard("openai-agents"), unguarded, {})


def _guarded(agent: Any, guard: Guard, unguarded: Collection[str], known: dict[int, Any]) -> Any:
    if id(agent) in known:
        return known[id(agent)]
    others = [each.name for each in agent.tools if not isinstance(each, FunctionTool)]
    others += [each.name for each in agent.mcp_servers]
    others += [each.agent_name for each in agent.handoffs if not isinstance(each, Agent)]
    left = [name for name in others if name not in unguarded]
    if left:
        reason = f"{', '.join(left)} would run unchecked. Name them in `unguarded` if that is meant."
        raise BlockedError(failed_verdict("sdk.unguarded", reason))
    made = agent.clone(tools=[_guarded_tool(each, guard) for each in agent.tools])
    # Agents may hand over to each other in a circle.
    known[id(agent)] = made
    made.handoffs = [
        _guarded(each, guard, unguarded, known) if isinstance(each, Agent) else each for each in agent.handoffs
    ]
    return made


def _guarded_tool(tool: Any, guard: Guard) -> Any:
    if not isinstance(tool, FunctionTool):
        return tool

    async def invoke(context: Any, written: str) -> Any:
        try:
            arguments = await guard.aio.protect.tool(tool.name, _arguments(written))
            result = await tool.on_invoke_tool(context, json.dumps(arguments))
            shown = result if isinstance(result, str) else _plain(result)
            checked = await guard.aio.protect.tool_result(tool.name, shown)
        except BlockedError as error:
            return refusal_text(error)
        return result if checked == shown else checked

    wrapped = copy.copy(tool)
    wrapped.on_invoke_tool = invoke
    return wrapped


def _arguments(written: str) -> Any:
    try:
        return json.loads(written or "{}")
    except ValueError:
        raise BlockedError(failed_verdict("sdk.not_json", "The arguments are not JSON.")) from None


async def _check_prompt(guard: Guard, prompt: Any) -> Any:
    if isinstance(prompt, str):
        return await guard.aio.protect.input(prompt)
    return [await _check_item(guard, each) for each in prompt]


async def _check_item(guard: Guard, item: Any) -> Any:
    if not isinstance(item, dict) or item.get("role") != "user":
        return item
    content = item.get("content")
    if isinstance(content, str):
        return {**item, "content": await guard.aio.protect.input(content)}
    parts = []
    for part in content or []:
        is_text = isinstance(part.get("text"), str)
        parts.append({**part, "text": await guard.aio.protect.input(part["text"])} if is_text else part)
    return {**item, "content": parts}


def _plain(value: Any) -> str:
    dump = getattr(value, "model_dump_json", None)
    return str(dump()) if dump else json.dumps(value, default=str)
