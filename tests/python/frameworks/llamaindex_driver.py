import asyncio
import re

from llama_index.core.agent.workflow import AgentStream, AgentWorkflow, FunctionAgent, ToolCallResult
from llama_index.core.agent.workflow.workflow_events import AgentStreamStructuredOutput
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata, TextBlock, ThinkingBlock
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from scenario import ADDRESS, note, play, shows_secret
from customshouse.adapters.llamaindex import guarded_tools, run, run_streamed


class Scripted(FunctionCallingLLM):
    script: dict

    @property
    def metadata(self):
        return LLMMetadata(is_function_calling_model=True)

    def _answer(self, messages):
        seen, arguments = self.script["seen"], self.script["arguments"]
        note(seen, messages)
        seen["question"] = next(each.content for each in messages if each.role == "user")
        results = [each for each in messages if each.role == "tool"]
        if results:
            seen["result"] = results[-1].content
        calls = [] if arguments is None or results else [arguments]
        text = "" if calls else self.script["answer"]
        blocks = [ThinkingBlock(content=text), TextBlock(text=text)]
        return ChatResponse(message=ChatMessage(role="assistant", blocks=blocks, additional_kwargs={"calls": calls}))

    async def astream_chat_with_tools(self, tools, chat_history=None, **kwargs):
        async def stream():
            whole = self._answer(chat_history)
            for piece in re.findall(r" ?[^ ]+", whole.message.content) or [""]:
                text = whole.message.content[: whole.message.content.index(piece) + len(piece)]
                blocks = [ThinkingBlock(content=text), TextBlock(text=text)]
                extra = whole.message.additional_kwargs
                message = ChatMessage(role="assistant", blocks=blocks, additional_kwargs=extra)
                response = ChatResponse(message=message, delta=piece, raw={"text": piece})
                response.additional_kwargs = {"thinking_delta": piece}
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


def build(seen, arguments, result, answer, **options):
    def look_up(city: str) -> str:
        """Looks something up."""
        seen["ran_with"].append(city)
        return result

    llm = Scripted(script={"seen": seen, "arguments": arguments, "answer": answer})
    return FunctionAgent(tools=guarded_tools([look_up]), llm=llm, **options)


def ask(seen, question, *script):
    async def main():
        return await run(build(seen, *script), question)

    seen["answer"] = asyncio.run(main())


def ask_events(seen, question, *script):
    read(seen, build(seen, *script), question)


def ask_workflow(seen, question, *script):
    read(seen, AgentWorkflow(agents=[build(seen, *script)]), question)


def read(seen, agent, question):
    """Reads every event of a run. The answer is the text of its pieces, or what none of them may show."""

    async def main():
        started = await run_streamed(agent, question)
        kinds = set()
        async for event in started.stream_events():
            kinds.add(type(event))
            note(seen, event, getattr(event, "raw", None))
            if isinstance(event, AgentStream):
                seen["answer"] = (seen["answer"] or "") + event.delta or None
            # `repr` leaves out what an event holds of the provider's own form.
            if shows_secret(f"{event!r} {vars(event)} {getattr(event, 'raw', None)}"):
                seen["answer"] = f"a secret in {type(event).__name__}"
        output = await started
        note(seen, output)
        answer = str(output)
        if shows_secret(repr(output)):
            answer = "a secret"
        if seen["answer"] != answer:
            seen["answer"] = f"{seen['answer']} in the stream, and at its end {answer}"
        assert (ToolCallResult in kinds) == bool(seen["result"]), kinds

    asyncio.run(main())


def check_structured():
    """A structured answer is masked in the events of a run and at its end."""

    async def main():
        agent = build({"trace": []}, None, None, "It is sunny.", structured_output_fn=lambda messages: {"setting": ADDRESS})
        started = await run_streamed(agent, "What is the setting?")
        events = [event async for event in started.stream_events()]
        assert any(isinstance(event, AgentStreamStructuredOutput) for event in events), events
        assert not shows_secret(events), events
        assert (await started).structured_response == {"setting": "DATABASE_URL=[REDACTED]"}

    asyncio.run(main())


check_structured()
play(ask, events=ask_events, workflow=ask_workflow)
