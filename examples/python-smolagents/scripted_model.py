"""A model of smolagents that follows a script: it calls `send` with a secret, then answers with an address."""

from smolagents.models import (
    ChatMessage,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    MessageRole,
    Model,
)


class Scripted(Model):
    def generate(self, messages, **options):
        texts = [part["text"] for each in messages for part in each.content if part["type"] == "text"]
        if any(each.startswith(("Observation:", "Error:")) for each in texts):
            answer = "I could not, write to jane.doe@corp-mail.io."
            function = ChatMessageToolCallFunction(name="final_answer", arguments={"answer": answer})
        else:
            function = ChatMessageToolCallFunction(name="send", arguments={"key": "sk-ABCDEF1234567890"})
        call = ChatMessageToolCall(id="1", type="function", function=function)
        return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=[call])


model = Scripted(model_id="scripted")
