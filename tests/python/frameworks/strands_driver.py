import asyncio
import json
import re

from customshouse.adapters.strands import GuardHooks
from scenario import note, play, shows_secret
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
        note(self.seen, messages)
        self.seen["question"] = messages[0]["content"][0]["text"]
        results = [part["toolResult"] for each in messages for part in each["content"] if "toolResult" in part]
        if results:
            self.seen["result"] = results[-1]["content"][0]["text"]
        yield {"messageStart": {"role": "assistant"}}
        if self.arguments is not None and not results:
            yield {"contentBlockStart": {"start": {"toolUse": {"name": "look_up", "toolUseId": "c1"}}}}
            for piece in re.findall(r".{1,9}", json.dumps(self.arguments)):
                yield {"contentBlockDelta": {"delta": {"toolUse": {"input": piece}}}}
            reason = "tool_use"
        else:
            yield {"contentBlockStart": {"start": {}}}
            for piece in re.findall(r" ?[^ ]+", self.answer):
                yield {"contentBlockDelta": {"delta": {"reasoningContent": {"text": piece}}}}
            yield {"contentBlockDelta": {"delta": {"reasoningContent": {"signature": "s"}}}}
            yield {"contentBlockStop": {}}
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
    agent = build(seen, *script)
    seen["answer"] = str(agent(question)).strip()
    note(seen, agent.messages)
    # A call that ran is in the conversation with the arguments that it ran with.
    if shows_secret([part for each in agent.messages for part in each["content"] if seen["ran_with"] == [] or "text" in part]):
        seen["answer"] = "a secret in a message"


def show(seen, event):
    """Adds the text of an event to the answer, or says that a secret was in the event."""
    if isinstance(event.get("data"), str):
        seen["answer"] = (seen["answer"] or "") + event["data"]
    shown = {name: value for name, value in event.items() if name not in PARTS_OF_THE_PROGRAM}
    note(seen, shown)
    if shows_secret(shown):
        seen["answer"] = f"a secret in {sorted(shown)}"


# Events carry the agent and the state of its loop, too.
PARTS_OF_THE_PROGRAM = ("agent", "event_loop_parent_span", "messages", "model", "result", "request_state", "tool_config")


def ask_stream(seen, question, *script):
    """Takes the text of the stream for the answer."""

    async def run():
        async for event in build(seen, *script).stream_async(question):
            show(seen, event)

    asyncio.run(run())


def ask_handler(seen, question, *script):
    """Takes the text that the callback handler shows for the answer."""
    build(seen, *script, callback_handler=lambda **event: show(seen, event))(question)


play(ask, stream=ask_stream, handler=ask_handler)
