"""A model of LangChain that follows a script: it calls `send` with a secret, then answers with an address."""

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult


class Scripted(BaseChatModel):
    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, **options):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **options):
        if isinstance(messages[-1], ToolMessage):
            message = AIMessage("I could not, write to jane.doe@corp-mail.io.")
        else:
            call = {"name": "send", "args": {"key": "sk-ABCDEF1234567890"}, "id": "1"}
            message = AIMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=message)])


model = Scripted()
