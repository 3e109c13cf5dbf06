"""A model of Semantic Kernel that follows a script: it calls `send` with a secret, then answers with an address."""

from semantic_kernel.connectors.ai.chat_completion_client_base import ChatCompletionClientBase
from semantic_kernel.contents import (
    ChatMessageContent,
    FunctionCallContent,
    FunctionResultContent,
    TextContent,
)
from semantic_kernel.contents.utils.finish_reason import FinishReason


class Scripted(ChatCompletionClientBase):
    SUPPORTS_FUNCTION_CALLING = True

    async def _inner_get_chat_message_contents(self, chat_history, settings):
        items = [item for each in chat_history.messages for item in each.items]
        if any(isinstance(item, FunctionResultContent) for item in items):
            text = TextContent(text="I could not, write to jane.doe@corp-mail.io.")
            return [ChatMessageContent(role="assistant", items=[text])]
        call = FunctionCallContent(id="1", name="mail-send", arguments='{"key": "sk-ABCDEF1234567890"}')
        return [ChatMessageContent(role="assistant", items=[call], finish_reason=FinishReason.TOOL_CALLS)]


model = Scripted(ai_model_id="scripted")
