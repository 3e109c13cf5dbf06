import asyncio
import json
import re

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import tool
from scenario import play
from agent_safety.adapters.langchain import GuardMiddleware


class Scripted(BaseChatModel):
    script: dict

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
        for message in [AIMessageChunk(content="", tool_call_chunks=calls), *pieces]:
            chunk = ChatGenerationChunk(message=message)
            if run_manager:
                run_manager.on_llm_new_token(message.content, chunk=chunk)
            yield chunk

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        last, script = messages[-1], self.script
        script["seen"]["question"] = messages[0].text
        if isinstance(last, ToolMessage):
            script["seen"]["result"] = last.text
        if script["arguments"] is not None and not isinstance(last, ToolMessage):
            call = {"name": "look_up", "args": script["arguments"], "id": "c1"}
            message = AIMessage(content="", tool_calls=[call])
        else:
            message = AIMessage(content=script["answer"])
        return ChatResult(generations=[ChatGeneration(message=message)])


def build(seen, arguments, result, answer):
    @tool
    def look_up(city: str) -> str:
        """Looks something up."""
        seen["ran_with"].append(city)
        return result

    model = Scripted(script={"seen": seen, "arguments": arguments, "answer": answer})
    return create_agent(model, [look_up], middleware=[GuardMiddleware()])


def given(question):
    return {"messages": [{"role": "user", "content": question}]}


def ask(seen, question, *script):
    seen["answer"] = build(seen, *script).invoke(given(question))["messages"][-1].text


def ask_async(seen, question, *script):
    state = asyncio.run(build(seen, *script).ainvoke(given(question)))
    seen["answer"] = state["messages"][-1].text


def show(seen, mode, chunk):
    """Adds what a caller sees: the answer in the messages, and an unmasked value anywhere."""
    if mode == "messages" and isinstance(chunk[0], AIMessage):
        seen["answer"] = (seen["answer"] or "") + chunk[0].text
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


MODES = ["messages", "updates", "values"]
play(ask, asynchronous=ask_async, stream=ask_stream, async_stream=ask_astream)
