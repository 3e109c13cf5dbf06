import asyncio
import re

from agent_safety.adapters.strands import GuardHooks
from scenario import play
from strands import Agent, tool
from strands.models import Model


class Scripted(Model):
    def __init__(self, seen, arguments, answer):
        self.seen, self.arguments, self.answer = seen, arguments, answer

    def update_config(self, **_):
        pass

    def get_config(self):
        return {}

    async def structured_output(self, *args, **kwargs):
        raise NotImplementedError
        yield

    async def stream(self, messages, *args, **kwargs):
        import json

        self.seen["question"] = messages[0]["content"][0]["text"]
        results = [part["toolResult"] for each in messages for part in each["content"] if "toolResult" in part]
        if results:
            self.seen["result"] = results[-1]["content"][0]["text"]
        yield {"messageStart": {"role": "assistant"}}
        if self.arguments is not None and not results:
            yield {"contentBlockStart": {"start": {"toolUse": {"name": "look_up", "toolUseId": "c1"}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(self.arguments)}}}}
            reason = "tool_use"
        else:
            yield {"contentBlockStart": {"start": {}}}
            for piece in re.findall(r" ?[^ ]+", self.answer):
                yield {"contentBlockDelta": {"delta": {"text": piece}}}
            reason = "end_turn"
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": reason}}


def build(seen, arguments, result, answer, callback_handler=None):
    @tool
    def look_up(city: str) -> str:
        """Looks something up."""
        seen["ran_with"].append(city)
        return result

    model = Scripted(seen, arguments, answer)
    return Agent(model=model, tools=[look_up], hooks=[GuardHooks()], callback_handler=callback_handler)


def ask(seen, question, *script):
    seen["answer"] = str(build(seen, *script)(question)).strip()


def ask_stream(seen, question, *script):
    """Takes the text of the stream for the answer."""

    async def run():
        async for event in build(seen, *script).stream_async(question):
            if isinstance(event.get("data"), str):
                seen["answer"] = (seen["answer"] or "") + event["data"]

    asyncio.run(run())


def ask_handler(seen, question, *script):
    """Takes the text that the callback handler shows for the answer."""

    def show(**event):
        if isinstance(event.get("data"), str):
            seen["answer"] = (seen["answer"] or "") + event["data"]

    build(seen, *script, callback_handler=show)(question)


play(ask, stream=ask_stream, handler=ask_handler)
