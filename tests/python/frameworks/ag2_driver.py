import asyncio
import json
import re

from ag2 import Agent, MemoryStream
from ag2.config import LLMClient, ModelConfig
from ag2.events import (
    BaseEvent,
    ModelMessage,
    ModelMessageChunk,
    ModelReasoning,
    ModelRequest,
    ModelResponse,
    ToolCallEvent,
    ToolCallsEvent,
    ToolResultsEvent,
)
from customshouse.adapters.ag2 import guard_middleware
from scenario import note, play


class Scripted(LLMClient):
    def __init__(self, seen, arguments, answer):
        self.seen, self.arguments, self.answer = seen, arguments, answer

    async def __call__(self, messages, context, **options):
        note(self.seen, messages)
        requests = [each for each in messages if isinstance(each, ModelRequest)]
        self.seen["question"] = requests[0].parts[0].content
        results = [each for each in messages if isinstance(each, ToolResultsEvent)]
        if results:
            self.seen["result"] = results[-1].results[0].result.parts[0].content
        if self.arguments is not None and not results:
            call = ToolCallEvent("look_up", id="c1", arguments=json.dumps(self.arguments))
            return ModelResponse(tool_calls=ToolCallsEvent([call]))
        message = ModelMessage(self.answer)
        for piece in re.findall(r" ?[^ ]+", self.answer):
            await context.send(ModelReasoning(piece))
            await context.send(ModelMessageChunk(piece))
        await context.send(message)
        return ModelResponse(message)


class Config(ModelConfig):
    def __init__(self, client):
        self.client = client

    def copy(self, **_):
        return self

    def create(self):
        return self.client

    def create_files_client(self):
        raise NotImplementedError

    @property
    def provider(self):
        return "scripted"

    @property
    def model(self):
        return "scripted"


def build(seen, arguments, result, answer, observers=()):
    def look_up(city: str) -> str:
        """Looks something up."""
        seen["ran_with"].append(city)
        return result

    config = Config(Scripted(seen, arguments, answer))
    return Agent("helper", config=config, tools=[look_up], middleware=[guard_middleware()], observers=observers)


def ask(seen, question, *script):
    async def main():
        return (await build(seen, *script).ask(question)).body

    seen["answer"] = asyncio.run(main())


class Shown:
    """What the subscribers of a stream see: the answer in its chunks, and an unmasked value in any event."""

    def __init__(self, seen, question, script):
        self.seen = seen
        self.expected = "p4ssw0rd" in f"{question} {script[1]}"

    async def see(self, event):
        note(self.seen, event)
        if isinstance(event, ModelMessageChunk):
            self.seen["answer"] = (self.seen["answer"] or "") + event.content
        if "p4ssw0rd" in str(vars(event)) and not self.expected:
            self.seen["answer"] = f"unmasked in {type(event).__name__}"


def ask_stream(seen, question, *script):
    async def main():
        stream = MemoryStream()
        stream.subscribe(Shown(seen, question, script).see)
        await build(seen, *script).ask(question, stream=stream)

    asyncio.run(main())


def ask_interrupter(seen, question, *script):
    """Sees the events of the stream before the other subscribers do."""

    async def main():
        stream, shown = MemoryStream(), Shown(seen, question, script)

        async def interrupt(event: BaseEvent):
            await shown.see(event)
            return event

        stream.subscribe(interrupt, interrupt=True)
        await build(seen, *script).ask(question, stream=stream)

    asyncio.run(main())


def ask_enqueue(seen, question, *script):
    """Puts the question into the inbox of the stream, which the model reads with another request."""

    async def main():
        stream, shown = MemoryStream(), Shown(seen, question, script)
        stream.enqueue(question)
        stream.subscribe(shown.see)
        await build(seen, *script).ask("Go on.", stream=stream)

    asyncio.run(main())


def ask_run(seen, question, *script):
    """Reads the events of a run while it goes on."""

    async def main():
        shown = Shown(seen, question, script)
        async with build(seen, *script).run(question) as run:
            with run.stream.join() as events:
                run.start()
                reading = asyncio.create_task(read(events, shown))
                try:
                    await run.result()
                finally:
                    await asyncio.sleep(0)
                    reading.cancel()

    asyncio.run(main())


async def read(events, shown):
    async for event in events:
        await shown.see(event)


play(ask, stream=ask_stream, interrupter=ask_interrupter, run=ask_run, enqueue=ask_enqueue)
