import asyncio
import json

from customshouse.adapters.pydantic_ai import GuardCapability
from pydantic_ai import Agent
from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import DeltaThinkingPart, DeltaToolCall, FunctionModel
from pydantic_ai.output import ToolOutput
from scenario import note, play, shows_secret


def build(seen, arguments, result, answer, output_type=str):
    def look_up(city: str) -> str:
        """Looks something up."""
        seen["ran_with"].append(city)
        return result

    def has_result(messages):
        note(seen, messages)
        parts = [part for message in messages for part in message.parts]
        seen["question"] = next(part.content for part in parts if isinstance(part, UserPromptPart))
        results = [part for part in parts if isinstance(part, ToolReturnPart)]
        if results:
            seen["result"] = results[-1].content
        return bool(results)

    def model(messages, info):
        if not has_result(messages) and arguments is not None:
            return ModelResponse(parts=[ToolCallPart("look_up", arguments)])
        if info.output_tools:
            return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, {"response": answer})])
        return ModelResponse(parts=[ThinkingPart(answer, signature="s"), TextPart(answer)])

    async def stream(messages, info):
        if not has_result(messages) and arguments is not None:
            yield {0: DeltaToolCall("look_up", json.dumps(arguments), tool_call_id="call-1")}
            return
        words = [word if word == answer.split(" ", 1)[0] else f" {word}" for word in answer.split(" ")]
        if info.output_tools:
            yield {0: DeltaToolCall(info.output_tools[0].name, '{"response": "', tool_call_id="call-2")}
            for word in [*words, '"}']:
                yield {0: DeltaToolCall(json_args=word)}
            return
        for word in words:
            yield {0: DeltaThinkingPart(content=word)}
        yield {0: DeltaThinkingPart(signature="s")}
        for word in words:
            yield word

    scripted = FunctionModel(model, stream_function=stream)
    return Agent(scripted, tools=[look_up], capabilities=[GuardCapability()], output_type=output_type)


def ask(seen, question, *script):
    result = asyncio.run(build(seen, *script).run(question))
    seen["answer"] = result.output
    check_messages(seen, result)


def check_messages(seen, result):
    """Looks for secrets in what the model answered, calls of tools apart."""
    note(seen, result.all_messages())
    parts = [part for each in result.all_messages() if not isinstance(each, ModelRequest) for part in each.parts]
    if shows_secret([each for each in parts if getattr(each, "tool_name", None) != "look_up"]):
        seen["answer"] = "a secret in a message"


def ask_stream(seen, question, *script):
    async def run():
        async with build(seen, *script).run_stream(question) as result:
            pieces = [each async for each in result.stream_text(delta=True, debounce_by=None)]
            seen["answer"] = "".join(pieces)
            check_messages(seen, result)

    asyncio.run(run())


def ask_events(seen, question, *script):
    """Reads every event of a run. A secret in any of them is what the caller saw."""

    async def run():
        shown = []
        async with build(seen, *script).run_stream_events(question) as events:
            async for event in events:
                shown.append(repr(event))
                note(seen, event)
                if hasattr(event, "result"):
                    seen["answer"] = event.result.output
        unmasked = [each for each in shown if shows_secret(each) and "AgentRunResultEvent" not in each]
        if unmasked:
            seen["answer"] = f"a secret in {unmasked[0][:40]}"

    asyncio.run(run())


def ask_structured(seen, question, *script):
    """Lets the model answer with a tool, and reads the answer from the result."""
    result = asyncio.run(build(seen, *script, ToolOutput(str)).run(question))
    seen["answer"] = result.output
    check_messages(seen, result)


def ask_structured_stream(seen, question, *script):
    """Lets the model answer with a tool, and reads the answer while it arrives."""

    async def run():
        async with build(seen, *script, ToolOutput(str)).run_stream(question) as result:
            shown = [each async for each in result.stream_output(debounce_by=None)]
            seen["answer"] = "a secret in the stream" if shows_secret(shown) else shown[-1]
            check_messages(seen, result)

    asyncio.run(run())


play(
    ask, stream=ask_stream, events=ask_events, structured=ask_structured, structured_stream=ask_structured_stream
)
