import asyncio
import json

from ag2 import Agent
from ag2.config import LLMClient, ModelConfig
from ag2.events import ModelMessage, ModelRequest, ModelResponse, ToolCallEvent, ToolCallsEvent, ToolResultsEvent
from agent_safety.adapters.ag2 import guard_middleware
from scenario import play


class Scripted(LLMClient):
    def __init__(self, seen, arguments, answer):
        self.seen, self.arguments, self.answer = seen, arguments, answer

    async def __call__(self, messages, context, **options):
        requests = [each for each in messages if isinstance(each, ModelRequest)]
        self.seen["question"] = requests[0].parts[0].content
        results = [each for each in messages if isinstance(each, ToolResultsEvent)]
        if results:
            self.seen["result"] = results[-1].results[0].result.parts[0].content
        if self.arguments is not None and not results:
            call = ToolCallEvent("look_up", id="c1", arguments=json.dumps(self.arguments))
            return ModelResponse(tool_calls=ToolCallsEvent([call]))
        return ModelResponse(ModelMessage(self.answer))


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


def ask(seen, question, arguments, result, answer):
    def look_up(city: str) -> str:
        """Looks something up."""
        seen["ran_with"].append(city)
        return result

    config = Config(Scripted(seen, arguments, answer))
    agent = Agent("helper", config=config, tools=[look_up], middleware=[guard_middleware()])

    async def main():
        reply = await agent.ask(question)
        return reply.body

    seen["answer"] = asyncio.run(main())


play(ask)
