import asyncio
import json
import re

from customshouse.adapters.semantic_kernel import (
    guard_kernel,
    guarded_answer,
    guarded_prompt,
    guarded_stream,
)
from scenario import note, play
from semantic_kernel import Kernel
from semantic_kernel.agents import ChatCompletionAgent
from semantic_kernel.connectors.ai import FunctionChoiceBehavior, PromptExecutionSettings
from semantic_kernel.connectors.ai.chat_completion_client_base import ChatCompletionClientBase
from semantic_kernel.contents import (
    ChatMessageContent,
    FunctionCallContent,
    FunctionResultContent,
    StreamingChatMessageContent,
    StreamingTextContent,
    TextContent,
)
from semantic_kernel.contents.utils.finish_reason import FinishReason
from semantic_kernel.functions import KernelArguments, kernel_function
from semantic_kernel.services.ai_service_selector import AIServiceSelector


class Scripted(ChatCompletionClientBase):
    SUPPORTS_FUNCTION_CALLING = True
    script: dict

    async def _inner_get_chat_message_contents(self, chat_history, settings):
        item = self.respond(chat_history)
        reason = FinishReason.TOOL_CALLS if isinstance(item, FunctionCallContent) else None
        return [ChatMessageContent(role="assistant", items=[item], finish_reason=reason)]

    async def _inner_get_streaming_chat_message_contents(self, chat_history, settings, function_invoke_attempt=0):
        item = self.respond(chat_history)
        own = {"role": "assistant", "choice_index": 0, "function_invoke_attempt": function_invoke_attempt}
        if isinstance(item, FunctionCallContent):
            yield [StreamingChatMessageContent(items=[item], finish_reason=FinishReason.TOOL_CALLS, **own)]
            return
        for piece in re.findall(r" ?[^ ]+", item.text):
            content = StreamingTextContent(text=piece, choice_index=0)
            yield [StreamingChatMessageContent(items=[content], inner_content={"delta": piece}, **own)]

    def respond(self, chat_history):
        seen, arguments = self.script["seen"], self.script["arguments"]
        note(seen, chat_history.messages)
        seen["question"] = next(each.content for each in chat_history.messages if each.role == "user")
        items = [item for each in chat_history.messages for item in each.items]
        results = [item for item in items if isinstance(item, FunctionResultContent)]
        if results:
            seen["result"] = str(results[-1].result)
        if arguments is not None and not results:
            return FunctionCallContent(id="c1", name="shop-look_up", arguments=json.dumps(arguments))
        return TextContent(text=self.script["answer"])


def build(seen, arguments, result, answer):
    class Shop:
        @kernel_function
        def look_up(self, city: str) -> str:
            """Looks something up."""
            seen["ran_with"].append(city)
            return result

    script = {"seen": seen, "arguments": arguments, "answer": answer}
    kernel = guard_kernel(Kernel())
    kernel.add_plugin(Shop(), plugin_name="shop")
    return ChatCompletionAgent(service=Scripted(ai_model_id="scripted", script=script), kernel=kernel, name="helper")


def ask(seen, question, *script):
    async def main():
        asked = await guarded_prompt(question)
        return str(await build(seen, *script).get_response(messages=asked))

    seen["answer"] = asyncio.run(main())


async def read(seen, messages):
    """Reads what a caller sees: the text, and an unmasked value in any message."""
    async for each in messages:
        message = getattr(each, "message", each)
        note(seen, message)
        message = message[0] if isinstance(message, list) else message
        seen["answer"] = (seen["answer"] or "") + str(message)
        if "p4ssw0rd" in repr(message):
            seen["answer"] = "unmasked in a message"


def ask_stream(seen, question, *script):
    async def main():
        await read(seen, build(seen, *script).invoke_stream(messages=await guarded_prompt(question)))

    asyncio.run(main())


def ask_clone(seen, question, *script):
    """Streams from a clone of the kernel."""

    async def main():
        agent = build(seen, *script)
        agent.kernel = agent.kernel.clone()
        await read(seen, agent.invoke_stream(messages=await guarded_prompt(question)))

    asyncio.run(main())


def ask_prompt(seen, question, *script):
    """Streams the answer to a prompt of the kernel, without an agent."""

    async def main():
        kernel = build(seen, *script).kernel
        settings = PromptExecutionSettings(function_choice_behavior=FunctionChoiceBehavior.Auto())
        await read(seen, kernel.invoke_prompt_stream(question, arguments=KernelArguments(settings=settings)))

    asyncio.run(main())


def elsewhere(seen, script):
    """Returns an agent whose functions are guarded, and whose model is not, as those of other services."""
    agent = build(seen, *script)
    agent.kernel.ai_service_selector = AIServiceSelector()
    return agent


def ask_elsewhere(seen, question, *script):
    async def main():
        asked = await guarded_prompt(question)
        seen["answer"] = str(await guarded_answer(elsewhere(seen, script).get_response(messages=asked)))

    asyncio.run(main())


def ask_stream_elsewhere(seen, question, *script):
    async def main():
        asked = await guarded_prompt(question)
        await read(seen, guarded_stream(elsewhere(seen, script).invoke_stream(messages=asked)))

    asyncio.run(main())


play(
    ask,
    stream=ask_stream,
    clone_stream=ask_clone,
    prompt_stream=ask_prompt,
    elsewhere=ask_elsewhere,
    elsewhere_stream=ask_stream_elsewhere,
)
