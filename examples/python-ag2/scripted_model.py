"""A model of AG2 that follows a script: it calls `send` with a secret, then answers with an address."""

from ag2.config import LLMClient, ModelConfig
from ag2.events import ModelMessage, ModelResponse, ToolCallEvent, ToolCallsEvent, ToolResultsEvent


class Scripted(LLMClient):
    async def __call__(self, messages, context, **options):
        if any(isinstance(each, ToolResultsEvent) for each in messages):
            return ModelResponse(ModelMessage("I could not, write to jane.doe@corp-mail.io."))
        call = ToolCallEvent("send", id="1", arguments='{"key": "sk-ABCDEF1234567890"}')
        return ModelResponse(tool_calls=ToolCallsEvent([call]))


class Config(ModelConfig):
    provider = model = "scripted"

    def copy(self, **options):
        return self

    def create(self):
        return Scripted()

    def create_files_client(self):
        raise NotImplementedError


config = Config()
