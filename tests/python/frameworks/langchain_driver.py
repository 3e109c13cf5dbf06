import asyncio
import json
import re

from langchain.agents import create_agent
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import tool
from scenario import ADDRESS, KEY, note, play, shows_secret
from customshouse.adapters.langchain import GuardMiddleware


class Scripted(BaseChatModel):
    script: dict
    streaming: bool = False

    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, **kwargs):
        return self

    def _stream(self, messages, stop=None, run_manager=None, **kwargs):
        whole = self._generate(messages).generations[0].message
        calls = [{**each, "args": json.dumps(each["args"]), "index": 0} for each in whole.tool_calls]
        calls = [{name: value for name, value in each.items() if name != "type"} for each in calls]
        pieces = [AIMessageChunk(content=each) for each in re.findall(r" ?[^ ]+", whole.text)]
        if isinstance(whole.content, list):
            pieces = [AIMessageChunk(content=whole.content, additional_kwargs=whole.additional_kwargs)]
        for message in [AIMessageChunk(content="", tool_call_chunks=calls), *pieces]:
            chunk = ChatGenerationChunk(message=message)
            if run_manager:
                run_manager.on_llm_new_token(message.content, chunk=chunk)
            yield chunk

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        last, script = messages[-1], self.script
        script["seen"]["question"] = messages[0].text
        note(script["seen"], messages)
        if isinstance(last, ToolMessage):
            script["seen"]["result"] = last.text
        if script["arguments"] is not None and not isinstance(last, ToolMessage):
            call = {"name": "look_up", "args": script["arguments"], "id": "c1"}
            message = AIMessage(content="", tool_calls=[call])
        else:
            message = AIMessage(content=script["answer"], **script.get("extra", {}))
        return ChatResult(generations=[ChatGeneration(message=message)])


def build(seen, arguments, result, answer, extra=None, streaming=False):
    @tool
    def look_up(city: str) -> str:
        """Looks something up."""
        seen["ran_with"].append(city)
        return result

    script = {"seen": seen, "arguments": arguments, "answer": answer, "extra": extra or {}}
    model = Scripted(script=script, streaming=streaming)
    return create_agent(model, [look_up], middleware=[GuardMiddleware()])


def given(question):
    return {"messages": [{"role": "user", "content": question}]}


def ask(seen, question, *script):
    state = build(seen, *script).invoke(given(question))
    note(seen, state)
    seen["answer"] = state["messages"][-1].text


def ask_async(seen, question, *script):
    state = asyncio.run(build(seen, *script).ainvoke(given(question)))
    note(seen, state)
    seen["answer"] = state["messages"][-1].text


def show(seen, mode, chunk):
    """Adds what a caller sees: the answer in the messages, and an unmasked value anywhere."""
    if mode == "messages" and isinstance(chunk[0], AIMessage):
        seen["answer"] = (seen["answer"] or "") + chunk[0].text
    note(seen, chunk)
    if "p4ssw0rd" in str(chunk):
        seen["answer"] = f"unmasked in {mode}"


def ask_stream(seen, question, *script):
    for mode, chunk in build(seen, *script).stream(given(question), stream_mode=MODES):
        show(seen, mode, chunk)


def ask_astream(seen, question, *script):
    async def run():
        async for mode, chunk in build(seen, *script).astream(given(question), stream_mode=MODES):
            show(seen, mode, chunk)

    asyncio.run(run())


def ask_events(seen, question, *script):
    """Reads the events of models and nodes. The answer is what the last node returned."""

    async def run():
        unmasked = []
        async for event in build(seen, *script).astream_events(given(question)):
            note(seen, event)
            if "p4ssw0rd" in str(event):
                unmasked.append(event["event"])
            if event["event"] == "on_chain_end" and event["name"] == "model":
                seen["answer"] = str(event["data"]["output"]).rsplit("content='", 1)[-1].split("'", 1)[0] or None
        if unmasked:
            seen["answer"] = f"unmasked in {unmasked}"

    asyncio.run(run())


def check_reasoning():
    """Reasoning is left out if it would have to be masked, and the answer stays; other reasoning is shown."""
    for thought, block in THOUGHTS.items():
        for is_secret in (False, True):
            thinking = ADDRESS if is_secret else "I look outside."
            content, extra = block(thinking)
            answer = [*content, {"type": "text", "text": "It is sunny."}]
            for way in WAYS:
                seen = {"question": None, "ran_with": [], "result": None, "answer": None, "trace": []}
                shown = []
                way(seen, "What is the weather?", None, None, answer, extra, shown)
                assert shown and not shows_secret(shown), f"{thought} in {way.__name__}: {shown}"
                assert "It is sunny." in str(shown[-1]), f"{thought} in {way.__name__}: {shown[-1]}"
                assert is_secret or "I look outside." in str(shown), f"{thought} is lost in {way.__name__}"


class Tracer(BaseCallbackHandler):
    """Keeps what LangChain tells callbacks of models, as tracers such as LangSmith do."""

    def __init__(self):
        self.shown = []

    def on_llm_new_token(self, token, *, chunk=None, **kwargs):
        self.shown.append((token, chunk))

    def on_llm_end(self, response, **kwargs):
        self.shown.append(response)


def check_callbacks():
    """Callbacks receive checked answers, and no arguments of a refused call, whole and streamed."""
    for arguments, answer in ((None, f"It is {ADDRESS}"), ({"city": KEY}, "I could not."), (None, "It is sunny.")):
        for is_streaming in (False, True):
            for is_async in (False, True):
                tracer = Tracer()
                seen = {"question": None, "ran_with": [], "result": None, "answer": None, "trace": []}
                agent = build(seen, arguments, "Sunny.", answer, streaming=is_streaming)
                config = {"callbacks": [tracer]}
                if is_async:
                    asyncio.run(agent.ainvoke(given("What is it?"), config))
                else:
                    agent.invoke(given("What is it?"), config)
                assert tracer.shown and not shows_secret(tracer.shown), f"{is_streaming} {is_async}: {tracer.shown}"
                assert answer != "It is sunny." or "sunny" in str(tracer.shown), tracer.shown


# The forms in which providers send reasoning, each as blocks of the content and as members next to it.
THOUGHTS = {
    "standard": lambda text: ([{"type": "reasoning", "reasoning": text}], {}),
    "anthropic": lambda text: ([{"type": "thinking", "thinking": text, "signature": "s"}], {}),
    "openai": lambda text: ([{"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": text}]}], {}),
    "bedrock": lambda text: ([{"type": "reasoning_content", "reasoning_content": {"text": text}}], {}),
    "deepseek": lambda text: ([], {"reasoning_content": text}),
}


def invoke(seen, question, arguments, result, answer, extra, shown):
    agent = build(seen, arguments, result, answer, extra={"additional_kwargs": extra})
    shown += agent.invoke(given(question))["messages"]


def stream(seen, question, arguments, result, answer, extra, shown):
    agent = build(seen, arguments, result, answer, extra={"additional_kwargs": extra})
    shown += [chunk for _, chunk in agent.stream(given(question), stream_mode=["messages", "updates"])]


def astream(seen, question, arguments, result, answer, extra, shown):
    async def run():
        agent = build(seen, arguments, result, answer, extra={"additional_kwargs": extra})
        shown.extend([chunk async for _, chunk in agent.astream(given(question), stream_mode=["messages", "updates"])])

    asyncio.run(run())


WAYS = (invoke, stream, astream)


MODES = ["messages", "updates", "values"]
check_reasoning()
check_callbacks()
play(ask, asynchronous=ask_async, stream=ask_stream, async_stream=ask_astream, events=ask_events)
