"""A model of AutoGen that follows a script: it calls `send` with a secret, then answers with an address."""

from autogen_core import FunctionCall
from autogen_core.models import (
    ChatCompletionClient,
    CreateResult,
    FunctionExecutionResultMessage,
    ModelInfo,
    RequestUsage,
)

USAGE = RequestUsage(prompt_tokens=0, completion_tokens=0)
INFO = ModelInfo(
    vision=False, function_calling=True, json_output=False, family="unknown", structured_output=False
)


class Scripted(ChatCompletionClient):
    model_info = capabilities = INFO

    async def create(self, messages, **options):
        if isinstance(messages[-1], FunctionExecutionResultMessage):
            content = "I could not, write to jane.doe@corp-mail.io."
        else:
            content = [FunctionCall(id="1", name="send", arguments='{"key": "sk-ABCDEF1234567890"}')]
        reason = "stop" if isinstance(content, str) else "function_calls"
        return CreateResult(finish_reason=reason, content=content, usage=USAGE, cached=False)

    async def create_stream(self, messages, **options):
        yield await self.create(messages)

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


model = Scripted()
