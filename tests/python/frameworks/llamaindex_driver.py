import asyncio

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from scenario import play
from agent_safety.adapters.llamaindex import guarded_tools, run


class Scripted(FunctionCallingLLM):
    script: dict

    @property
    def metadata(self):
        return LLMMetadata(is_function_calling_model=True)

    def _answer(self, messages):
        seen, arguments = self.script["seen"], self.script["arguments"]
        seen["question"] = next(each.content for each in messages if each.role == "user")
        results = [each for each in messages if each.role == "tool"]
        if results:
            seen["result"] = results[-1].content
        calls = [] if arguments is None or results else [arguments]
        text = "" if calls else self.script["answer"]
        return ChatResponse(message=ChatMessage(role="assistant", content=text, additional_kwargs={"calls": calls}))

    async def astream_chat_with_tools(self, tools, chat_history=None, **kwargs):
        async def stream():
            response = self._answer(chat_history)
            response.delta = response.message.content
            yield response

        return stream()

    async def achat_with_tools(self, tools, chat_history=None, **kwargs):
        return self._answer(chat_history)

    def get_tool_calls_from_response(self, response, error_on_no_tool_call=True, **kwargs):
        calls = response.message.additional_kwargs.get("calls", [])
        return [ToolSelection(tool_id="c1", tool_name="look_up", tool_kwargs=each) for each in calls]

    def _prepare_chat_with_tools(self, tools, **kwargs):
        return {}

    def chat(self, messages, **kwargs):
        return self._answer(messages)

    async def achat(self, messages, **kwargs):
        return self._answer(messages)

    def complete(self, *args, **kwargs):
        raise NotImplementedError

    acomplete = stream_chat = astream_chat = stream_complete = astream_complete = complete


def ask(seen, question, arguments, result, answer):
    def look_up(city: str) -> str:
        """Looks something up."""
        seen["ran_with"].append(city)
        return result

    llm = Scripted(script={"seen": seen, "arguments": arguments, "answer": answer})
    agent = FunctionAgent(tools=guarded_tools([look_up]), llm=llm)

    async def main():
        return await run(agent, question)

    seen["answer"] = asyncio.run(main())


play(ask)
