"""A model of the OpenAI Agents SDK that follows a script: it calls `send` with a secret, then answers with an address."""

from agents import Model, ModelResponse, Usage, set_tracing_disabled
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

set_tracing_disabled(True)


class Scripted(Model):
    async def get_response(self, system_instructions, input, *args, **options):
        if any(isinstance(each, dict) and each.get("type") == "function_call_output" for each in input):
            answer = "I could not, write to jane.doe@corp-mail.io."
            text = ResponseOutputText(text=answer, type="output_text", annotations=[])
            item = ResponseOutputMessage(
                id="m1", content=[text], role="assistant", status="completed", type="message"
            )
        else:
            arguments = '{"key": "sk-ABCDEF1234567890"}'
            item = ResponseFunctionToolCall(call_id="1", name="send", arguments=arguments, type="function_call")
        return ModelResponse(output=[item], usage=Usage(), response_id=None)

    def stream_response(self, *args, **options):
        raise NotImplementedError


model = Scripted()
