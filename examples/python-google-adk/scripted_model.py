"""A model of Google ADK that follows a script: it calls `send` with a secret, then answers with an address."""

from google.adk.models import BaseLlm, LlmResponse
from google.genai import types


class Scripted(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        parts = [part for each in llm_request.contents for part in each.parts]
        if any(part.function_response for part in parts):
            part = types.Part(text="I could not, write to jane.doe@corp-mail.io.")
        else:
            part = types.Part(function_call=types.FunctionCall(name="send", args={"key": "sk-ABCDEF1234567890"}))
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


model = Scripted(model="scripted")
