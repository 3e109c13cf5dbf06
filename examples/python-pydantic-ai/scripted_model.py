"""A model of Pydantic AI that follows a script: it calls `send` with a secret, then answers with an address."""

from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel


def script(messages, info):
    if any(isinstance(part, ToolReturnPart) for part in messages[-1].parts):
        return ModelResponse(parts=[TextPart("I could not, write to jane.doe@corp-mail.io.")])
    return ModelResponse(parts=[ToolCallPart("send", {"key": "sk-ABCDEF1234567890"})])


model = FunctionModel(script)
