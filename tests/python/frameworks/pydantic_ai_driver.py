import asyncio
import json

from agent_safety.adapters.pydantic_ai import GuardCapability
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from scenario import play


def build(seen, arguments, result, answer):
    def look_up(city: str) -> str:
        """Looks something up."""
        seen["ran_with"].append(city)
        return result

    def has_result(messages):
        parts = [part for message in messages for part in message.parts]
        seen["question"] = next(part.content for part in parts if isinstance(part, UserPromptPart))
        results = [part for part in parts if isinstance(part, ToolReturnPart)]
        if results:
            seen["result"] = results[-1].content
        return bool(results)

    def model(messages, info):
        if not has_result(messages) and arguments is not None:
            return ModelResponse(parts=[ToolCallPart("look_up", arguments)])
        return ModelResponse(parts=[TextPart(answer)])

    async def stream(messages, info):
        if not has_result(messages) and arguments is not None:
            yield {0: DeltaToolCall("look_up", json.dumps(arguments), tool_call_id="call-1")}
            return
        for word in answer.split(" "):
            yield word if word == answer.split(" ", 1)[0] else f" {word}"

    scripted = FunctionModel(model, stream_function=stream)
    return Agent(scripted, tools=[look_up], capabilities=[GuardCapability()])


def ask(seen, question, *script):
    seen["answer"] = asyncio.run(build(seen, *script).run(question)).output


def ask_stream(seen, question, *script):
    async def run():
        async with build(seen, *script).run_stream(question) as result:
            pieces = [each async for each in result.stream_text(delta=True, debounce_by=None)]
            seen["answer"] = "".join(pieces)

    asyncio.run(run())


def ask_events(seen, question, *script):
    """Reads every event of a run. An unmasked value in any of them is what the caller saw."""

    async def run():
        shown = []
        async with build(seen, *script).run_stream_events(question) as events:
            async for event in events:
                shown.append(repr(event))
                if hasattr(event, "result"):
                    seen["answer"] = event.result.output
        unmasked = [each for each in shown if "p4ssw0rd" in each]
        if unmasked and "p4ssw0rd" not in question:
            seen["answer"] = f"unmasked in {unmasked[0][:40]}"

    asyncio.run(run())


play(ask, stream=ask_stream, events=ask_events)
