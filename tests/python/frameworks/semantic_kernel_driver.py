import asyncio
import json

from agent_safety.adapters.semantic_kernel import guard_kernel, guarded_answer, guarded_prompt
from scenario import play
from semantic_kernel import Kernel
from semantic_kernel.agents import ChatCompletionAgent
from semantic_kernel.connectors.ai.chat_completion_client_base import ChatCompletionClientBase
from semantic_kernel.contents import ChatMessageContent, FunctionCallContent, FunctionResultContent, TextContent
from semantic_kernel.contents.utils.finish_reason import FinishReason
from semantic_kernel.functions import kernel_function


class Scripted(ChatCompletionClientBase):
    SUPPORTS_FUNCTION_CALLING = True
    script: dict

    async def _inner_get_chat_message_contents(self, chat_history, settings):
        seen, arguments = self.script["seen"], self.script["arguments"]
        seen["question"] = next(each.content for each in chat_history.messages if each.role == "user")
        items = [item for each in chat_history.messages for item in each.items]
        results = [item for item in items if isinstance(item, FunctionResultContent)]
        if results:
            seen["result"] = str(results[-1].result).split(": ", 1)[-1]
        if arguments is not None and not results:
            call = FunctionCallContent(id="c1", name="shop-look_up", arguments=json.dumps(arguments))
            return [ChatMessageContent(role="assistant", items=[call], finish_reason=FinishReason.TOOL_CALLS)]
        return [ChatMessageContent(role="assistant", items=[TextContent(text=self.script["answer"])])]


def ask(seen, question, arguments, result, answer):
    class Shop:
        @kernel_function
        def look_up(self, city: str) -> str:
            """Looks something up."""
            seen["ran_with"].append(city)
            return result

    script = {"seen": seen, "arguments": arguments, "answer": answer}
    kernel = guard_kernel(Kernel())
    kernel.add_plugin(Shop(), plugin_name="shop")
    agent = ChatCompletionAgent(service=Scripted(ai_model_id="scripted", script=script), kernel=kernel, name="helper")

    async def main():
        asked = await guarded_prompt(question)
        return str(await guarded_answer(agent.get_response(messages=asked)))

    seen["answer"] = asyncio.run(main())


play(ask)
