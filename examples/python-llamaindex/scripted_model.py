"""A model of LlamaIndex that follows a script: it calls `send` with a secret, then answers with an address."""

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection


class Scripted(FunctionCallingLLM):
    @property
    def metadata(self):
        return LLMMetadata(is_function_calling_model=True)

    async def astream_chat_with_tools(self, tools, chat_history=None, **options):
        async def stream():
            has_result = any(each.role == "tool" for each in chat_history)
            text = "I could not, write to jane.doe@corp-mail.io." if has_result else ""
            yield ChatResponse(message=ChatMessage(role="assistant", content=text), delta=text)

        return stream()

    def get_tool_calls_from_response(self, response, error_on_no_tool_call=True, **options):
        if response.message.content:
            return []
        return [ToolSelection(tool_id="1", tool_name="send", tool_kwargs={"key": "sk-ABCDEF1234567890"})]

    def chat(self, *args, **options):
        raise NotImplementedError

    _prepare_chat_with_tools = complete = stream_complete = stream_chat = chat
    achat = acomplete = astream_chat = astream_complete = chat


model = Scripted()
