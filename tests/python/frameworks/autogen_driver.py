import asyncio
import json

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.messages import ThoughtEvent
from autogen_core import FunctionCall
from autogen_core.models import ChatCompletionClient, CreateResult, FunctionExecutionResultMessage, RequestUsage, UserMessage
from scenario import note, play, shows_secret
from customshouse.adapters.autogen import guarded_model, guarded_tools

USAGE = RequestUsage(prompt_tokens=0, completion_tokens=0)
INFO = {"vision": False, "function_calling": True, "json_output": False, "family": "unknown", "structured_output": False}


class Scripted(ChatCompletionClient):
    def __init__(self, seen, arguments, answer):
        self.seen, self.arguments, self.answer = seen, arguments, answer

    async def create(self, messages, **options):
        note(self.seen, messages)
        self.seen["question"] = next(each.content for each in messages if isinstance(each, UserMessage))
        results = [each for each in messages if isinstance(each, FunctionExecutionResultMessage)]
        if results:
            self.seen["result"] = results[-1].content[0].content
        content = self.answer
        if self.arguments is not None and not results:
            content = [FunctionCall(id="c1", name="look_up", arguments=json.dumps(self.arguments))]
        reason = "stop" if isinstance(content, str) else "function_calls"
        return CreateResult(finish_reason=reason, content=content, usage=USAGE, cached=False, thought=self.answer)

    async def create_stream(self, messages, **options):
        yield "never shown"
        yield await self.create(messages, **options)

    async def close(self):
        pass

    def actual_usage(self):
        return USAGE

    def total_usage(self):
        return USAGE

    def count_tokens(self, messages, **options):
        return 0

    def remaining_tokens(self, messages, **options):
        return 1000

    @property
    def capabilities(self):
        return INFO

    @property
    def model_info(self):
        return INFO


def ask(seen, question, arguments, result, answer):
    async def look_up(city: str) -> str:
        """Looks something up."""
        seen["ran_with"].append(city)
        return result

    agent = AssistantAgent(
        "helper",
        model_client=guarded_model(Scripted(seen, arguments, answer)),
        tools=guarded_tools([look_up]),
        reflect_on_tool_use=True,
        model_client_stream=arguments is None,
    )
    messages = asyncio.run(agent.run(task=question)).messages
    note(seen, messages)
    seen["answer"] = messages[-1].content
    if shows_secret([each for each in messages if isinstance(each, ThoughtEvent)]):
        seen["answer"] = "a secret in a thought"


play(ask)
