import asyncio
import json
import re
from unittest.mock import patch

from agents import Agent, Model, ModelProvider, MultiProvider, ModelResponse, RunConfig, Usage, function_tool, set_tracing_disabled
from agents.agent import ToolsToFinalOutputResult
from agents.models.fake_id import FAKE_RESPONSES_ID
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputItemDoneEvent,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseTextDeltaEvent,
)
from scenario import ADDRESS, note, play, shows_secret
from customshouse import BlockedError
from customshouse.adapters.openai_agents import run, run_streamed

set_tracing_disabled(True)


class Scripted(Model):
    def __init__(self, seen, arguments, answer):
        self.seen, self.arguments, self.answer = seen, arguments, answer

    async def get_response(self, system_instructions, input, *args, **kwargs):
        return ModelResponse(output=self.respond(input), usage=Usage(), response_id=None)

    def respond(self, input):
        items = [{"role": "user", "content": input}] if isinstance(input, str) else input
        self.seen["question"] = items[0]["content"]
        note(self.seen, items)
        results = [each for each in items if each.get("type") == "function_call_output"]
        if results:
            self.seen["result"] = results[-1]["output"]
        if self.arguments is not None and not results:
            call = {"call_id": "c1", "name": "look_up", "arguments": json.dumps(self.arguments), "type": "function_call"}
            return [ResponseFunctionToolCall(**call)]
        text = ResponseOutputText(text=self.answer, type="output_text", annotations=[])
        return [ResponseOutputMessage(id="m1", content=[text], role="assistant", status="completed", type="message")]

    async def stream_response(self, system_instructions, input, *args, **kwargs):
        output = self.respond(input)
        place = {"output_index": 0, "sequence_number": 0}
        for item in output:
            for piece in re.findall(r" ?[^ ]+", item.content[0].text) if item.type == "message" else []:
                delta = {"content_index": 0, "delta": piece, "item_id": "m1", "logprobs": []}
                yield ResponseTextDeltaEvent(type="response.output_text.delta", **delta, **place)
            yield ResponseOutputItemDoneEvent(type="response.output_item.done", item=item, **place)
        whole = Response(
            id=FAKE_RESPONSES_ID,
            created_at=0,
            model="scripted",
            object="response",
            output=output,
            tool_choice="auto",
            tools=[],
            parallel_tool_calls=False,
        )
        yield ResponseCompletedEvent(type="response.completed", response=whole, sequence_number=0)


def build(seen, arguments, result, answer):
    @function_tool
    def look_up(city: str) -> str:
        """Looks something up."""
        seen["ran_with"].append(city)
        return result

    return Agent(name="helper", model=Scripted(seen, arguments, answer), tools=[look_up])


def ask(seen, question, *script):
    result = asyncio.run(run(build(seen, *script), question))
    note(seen, result.to_input_list(), result.raw_responses)
    seen["answer"] = result.final_output


class Provider(ModelProvider):
    def __init__(self, model):
        self.model = model

    def get_model(self, model_name):
        return self.model


def ask_provider(seen, question, *script):
    """Names the model, so that the run takes it from a provider."""
    agent = build(seen, *script)
    config = RunConfig(model_provider=Provider(agent.model))
    named = agent.clone(model="scripted")
    read(seen, run_streamed(named, question, run_config=config))


def ask_config(seen, question, *script):
    """Gives the model to the run and not to the agent."""
    agent = build(seen, *script)
    read(seen, run_streamed(agent.clone(model=None), question, run_config=RunConfig(model=agent.model)))


def ask_stream(seen, question, *script):
    read(seen, run_streamed(build(seen, *script), question))


def read(seen, starting):
    """Reads every event of a run. The answer is the text of the deltas, or an unmasked value in any event."""

    async def main():
        result = await starting
        async for event in result.stream_events():
            if getattr(getattr(event, "data", None), "type", None) == "response.output_text.delta":
                seen["answer"] = (seen["answer"] or "") + event.data.delta
            note(seen, getattr(event, "data", None), getattr(getattr(event, "item", None), "raw_item", None))
            if shows_secret(vars(event)):
                seen["answer"] = f"a secret in {event.type}"
        note(seen, result.to_input_list(), result.raw_responses)
        if seen["answer"] != result.final_output:
            seen["answer"] = f"{seen['answer']} in the stream, and at its end {result.final_output}"

    asyncio.run(main())


def check_tool_answer():
    """A tool may give the final answer. It is blocked if it would have to be masked, and passes otherwise."""

    async def main(answer, start):
        agent = build({"ran_with": [], "trace": []}, {"city": "Rome"}, "Sunny.", None)
        final = ToolsToFinalOutputResult(is_final_output=True, final_output=answer)
        result = await start(agent.clone(tool_use_behavior=lambda context, results: final), "Look it up.")
        if start is run_streamed:
            async for _ in result.stream_events():
                pass
        return result.final_output

    for start in (run, run_streamed):
        assert asyncio.run(main("It is sunny.", start)) == "It is sunny."
        try:
            shown = asyncio.run(main(ADDRESS, start))
        except BlockedError as error:
            assert "final answer" in str(error), error
        else:
            raise AssertionError(f"{start.__name__} showed {shown}")


def check_closing():
    """A run closes the provider that it made, and not one that it was given."""
    closed = []

    async def aclose(self):
        await asyncio.sleep(0)
        closed.append(self)

    async def main(start, config):
        result = await start(Agent(name="helper", model="scripted"), "What is the weather?", run_config=config)
        if start is run_streamed:
            async for _ in result.stream_events():
                pass
        return result.final_output

    scripted = {"get_model": lambda *_: Scripted({"ran_with": [], "trace": []}, None, "It is sunny."), "aclose": aclose}
    with patch.multiple(MultiProvider, **scripted):
        for start in (run, run_streamed):
            for config, count in ((None, 1), ({"tracing_disabled": True}, 1), (RunConfig(), 0)):
                closed.clear()
                assert asyncio.run(main(start, config)) == "It is sunny."
                assert len(closed) == count, f"{start.__name__} closed {len(closed)} providers with {config}"


check_tool_answer()
check_closing()
play(ask, stream=ask_stream, provider_stream=ask_provider, config_stream=ask_config)
