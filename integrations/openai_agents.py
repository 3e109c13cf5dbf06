"""Guards an agent of the OpenAI Agents SDK: what it is asked, each tool call, each result, and what it answers.

    from service_openai_agents import run

    result = await run(agent, "What is the weather?")

A call that is refused is told to the model; a question or an answer that is refused raises Refused. Tools that run elsewhere
(hosted ones, MCP servers, agents that are handed over to) cannot be judged here: they are refused unless you name them. Needs openai-agents
0.4 or later. This file is yours to change.
"""

from guard import Guard, Refused

import asyncio
import copy
import json

from agents import FunctionTool, Runner

guard = Guard(agent_id="openai-agents")


async def run(agent, text, unguarded=(), **options):
    """Runner.run, with everything judged. `unguarded` names tools, MCP servers and agents that you let be."""
    asked = await asyncio.to_thread(_questions, text)
    result = await Runner.run(guarded(agent, unguarded), asked, **options)
    shown = result.final_output if isinstance(result.final_output, str) else _plain(result.final_output)
    checked = await asyncio.to_thread(guard.check_output, shown)
    if checked != shown:
        if not isinstance(result.final_output, str):
            raise Refused("Refused: a structured answer would have to be masked.")
        result.final_output = checked
    return result


def guarded(agent, unguarded=()):
    """The same agent, whose tools are judged. Raises Refused where it has some that cannot be."""
    others = [each.name for each in agent.tools if not isinstance(each, FunctionTool)]
    others += [each.name for each in agent.mcp_servers]
    others += [getattr(each, "name", None) or each.agent_name for each in agent.handoffs]
    left = [name for name in others if name not in unguarded]
    if left:
        raise Refused(f"Refused: {', '.join(left)} would run unseen. Name them in `unguarded` where that is meant.")
    tools = [_guarded_tool(each) if isinstance(each, FunctionTool) else each for each in agent.tools]
    return agent.clone(tools=tools)


def _guarded_tool(tool):
    async def invoke(context, written):
        try:
            arguments = await asyncio.to_thread(guard.check_call, tool.name, _arguments(written))
            result = await tool.on_invoke_tool(context, json.dumps(arguments))
            shown = result if isinstance(result, str) else _plain(result)
            checked = await asyncio.to_thread(guard.check_result, tool.name, shown)
        except Refused as refused:
            return str(refused)
        return result if checked == shown else checked

    wrapped = copy.copy(tool)
    wrapped.on_invoke_tool = invoke
    return wrapped


def _arguments(written):
    try:
        return json.loads(written or "{}")
    except ValueError:
        raise Refused("Refused: the arguments are no JSON.") from None


def _questions(asked):
    if isinstance(asked, str):
        return guard.check_input(asked)
    return [_question(each) for each in asked]


def _question(item):
    """What a person says is a text or a list of parts; everything else is part of the conversation so far."""
    if not isinstance(item, dict) or item.get("role") != "user":
        return item
    content = item.get("content")
    if isinstance(content, str):
        return {**item, "content": guard.check_input(content)}
    parts = [
        {**part, "text": guard.check_input(part["text"])} if isinstance(part.get("text"), str) else part
        for part in content or []
    ]
    return {**item, "content": parts}


def _plain(value):
    dump = getattr(value, "model_dump_json", None)
    return dump() if dump else json.dumps(value, default=str)
