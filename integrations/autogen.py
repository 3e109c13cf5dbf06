"""Guards an agent of AutoGen: its model client (what it is asked and answers) and its tools (calls and results).

    from autogen_agentchat.agents import AssistantAgent
    from service_autogen import guarded_model, guarded_tools

    agent = AssistantAgent("helper", model_client=guarded_model(client), tools=guarded_tools([look_up, pay]))

A call that is refused is told to the model as a failed one; a question or an answer that is refused raises Refused.
Needs autogen-core 0.7 or later. This file is yours to change.
"""

from guard import Guard, Refused

import asyncio

from autogen_core.models import ChatCompletionClient, UserMessage
from autogen_core.tools import BaseTool, FunctionTool

guard = Guard(agent_id="autogen")


def guarded_tools(tools):
    """The same tools, each call and each result of which is judged. Functions are taken too."""
    return [
        _GuardedTool(each if isinstance(each, BaseTool) else FunctionTool(each, description=each.__doc__ or each.__name__))
        for each in tools
    ]


def guarded_model(client):
    """The same model client: what people say to it and what it answers is judged. A stream is held until it is whole."""
    return _GuardedModel(client)


class _GuardedTool(BaseTool):
    def __init__(self, tool):
        super().__init__(tool.args_type(), tool.return_type(), tool.name, tool.description)
        self._tool = tool

    @property
    def schema(self):
        return self._tool.schema

    def return_value_as_string(self, value):
        return value if isinstance(value, str) else self._tool.return_value_as_string(value)

    async def run(self, args, cancellation_token):
        return await self.run_json(args.model_dump(), cancellation_token)

    async def run_json(self, args, cancellation_token, call_id=None):
        arguments = await asyncio.to_thread(guard.check_call, self.name, dict(args))
        result = await self._tool.run_json(arguments, cancellation_token, call_id)
        shown = self.return_value_as_string(result)
        checked = await asyncio.to_thread(guard.check_result, self.name, shown)
        return result if checked == shown else checked

    async def save_state_json(self):
        return await self._tool.save_state_json()

    async def load_state_json(self, state):
        await self._tool.load_state_json(state)


class _GuardedModel(ChatCompletionClient):
    def __init__(self, client):
        self._client = client

    async def create(self, messages, **options):
        return await self._checked(await self._client.create(await self._asked(messages), **options))

    async def create_stream(self, messages, **options):
        result = None
        async for each in self._client.create_stream(await self._asked(messages), **options):
            result = each
        if result is None or isinstance(result, str):
            raise Refused("Refused: the model's stream had no end.")
        result = await self._checked(result)
        if isinstance(result.content, str):
            yield result.content
        yield result

    async def _asked(self, messages):
        return [await self._question(each) if isinstance(each, UserMessage) else each for each in messages]

    async def _question(self, message):
        if isinstance(message.content, str):
            return message.model_copy(update={"content": await asyncio.to_thread(guard.check_input, message.content)})
        parts = [
            await asyncio.to_thread(guard.check_input, part) if isinstance(part, str) else part
            for part in message.content
        ]
        return message.model_copy(update={"content": parts})

    async def _checked(self, result):
        if not isinstance(result.content, str):
            return result
        return result.model_copy(update={"content": await asyncio.to_thread(guard.check_output, result.content)})

    async def close(self):
        await self._client.close()

    def actual_usage(self):
        return self._client.actual_usage()

    def total_usage(self):
        return self._client.total_usage()

    def count_tokens(self, messages, **options):
        return self._client.count_tokens(messages, **options)

    def remaining_tokens(self, messages, **options):
        return self._client.remaining_tokens(messages, **options)

    @property
    def capabilities(self):
        return self._client.capabilities

    @property
    def model_info(self):
        return self._client.model_info
