import asyncio
import json
import os
import re

os.environ.setdefault("CREWAI_DISABLE_TELEMETRY", "true")
os.environ.setdefault("OTEL_SDK_DISABLED", "true")
os.environ.setdefault("CREWAI_TRACING_ENABLED", "false")

from customshouse.adapters.crewai import guard_crews
from crewai import Agent, BaseLLM, Crew, Task
from crewai.events import LLMCallCompletedEvent, LLMStreamChunkEvent, crewai_event_bus
from crewai.events.types.llm_events import LLMCallType, LLMThinkingChunkEvent
from crewai.events.types.tool_usage_events import ToolUsageFinishedEvent, ToolUsageStartedEvent
from crewai.hooks.dispatch import clear_all
from crewai.llms.base_llm import llm_call_context
from crewai.tools import tool
from scenario import ADDRESS, note, play, shows_secret

class Scripted(BaseLLM):
    def __init__(self, seen, arguments, answer):
        super().__init__(model="scripted")
        self.__dict__["script"] = (seen, arguments, answer)

    def supports_function_calling(self):
        return False

    def supports_stop_words(self):
        return True

    def call(self, messages, tools=None, callbacks=None, available_functions=None, **kwargs):
        seen, arguments, answer = self.__dict__["script"]
        if not self._invoke_before_llm_call_hooks(messages, kwargs.get("from_agent")):
            raise ValueError("blocked")
        note(seen, messages)
        prompt = next(each["content"] for each in messages if each["role"] == "user")
        seen["question"] = prompt.split("Current Task: ", 1)[-1].split("\n", 1)[0]
        observed = [each["content"] for each in messages[2:] if "Observation: " in str(each["content"])]
        if observed:
            seen["result"] = observed[-1].rsplit("Observation: ", 1)[1].split("\n", 1)[0]
        if arguments is not None and (seen.get("keeps_calling") or not observed):
            text = f"Thought: I look it up\nAction: look_up\nAction Input: {json.dumps(arguments)}"
        else:
            text = f"Thought: I now know\nFinal Answer: {answer}"
        self.emit(messages, text, kwargs.get("from_task"), kwargs.get("from_agent"))
        return self._invoke_after_llm_call_hooks(messages, text, kwargs.get("from_agent"))

    async def acall(self, *args, **kwargs):
        return self.call(*args, **kwargs)

    def emit(self, messages, text, task, agent):
        with llm_call_context():
            own = {"from_task": task, "from_agent": agent}
            self._emit_call_started_event(messages, **own)
            for piece in re.findall(r"[^ ]+ ?", text):
                self._emit_thinking_chunk_event(piece, **own)
                self._emit_stream_chunk_event(piece, **own)
            self._emit_call_completed_event(text, LLMCallType.LLM_CALL, messages=messages, **own)


class Native(Scripted):
    """Calls tools as the API of a model does, and not in its text."""

    def supports_function_calling(self):
        return True

    def call(self, messages, tools=None, callbacks=None, available_functions=None, **kwargs):
        seen, arguments, answer = self.__dict__["script"]
        note(seen, messages)
        prompt = next(each["content"] for each in messages if each["role"] == "user")
        seen["question"] = prompt.split("Current Task: ", 1)[-1].split("\n", 1)[0]
        results = [each["content"] for each in messages if each["role"] == "tool"]
        if results:
            seen["result"] = results[-1]
        if arguments is not None and not results:
            return [{"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": json.dumps(arguments)}}]
        self.emit(messages, answer, kwargs.get("from_task"), kwargs.get("from_agent"))
        return answer


def build(seen, question, arguments, result, answer, stream=False, kind=Scripted):
    @tool("look_up")
    def look_up(city: str) -> str:
        """Looks something up."""
        seen["ran_with"].append(city)
        return result

    clear_all()
    guard_crews()
    llm = kind(seen, arguments, answer)
    agent = Agent(role="helper", goal="help", backstory="you help", tools=[look_up], llm=llm, cache=False)
    task = Task(description=question, expected_output="an answer", agent=agent)
    return Crew(agents=[agent], tasks=[task], verbose=False, cache=False, stream=stream)


def ask(seen, question, *script):
    seen["answer"] = build(seen, question, *script).kickoff().raw


def ask_native(seen, question, *script):
    """Reads the events of tools, too."""
    with crewai_event_bus.scoped_handlers():
        for kind in (ToolUsageStartedEvent, ToolUsageFinishedEvent):
            crewai_event_bus.on(kind)(lambda source, event: note(seen, event.tool_args))
        seen["answer"] = build(seen, question, *script, kind=Native).kickoff().raw
        crewai_event_bus.flush()


def show(seen, chunks):
    """Takes what the chunks show for the answer."""
    text = "".join(chunks)
    if "Final Answer: " in text:
        seen["answer"] = text.rsplit("Final Answer: ", 1)[1]


def ask_stream(seen, question, *script):
    chunks = []
    try:
        for chunk in build(seen, question, *script, stream=True).kickoff():
            chunks.append(chunk.content)
    finally:
        show(seen, chunks)


def astream_of(kickoff):
    def ask_astream(seen, question, *script):
        chunks = []

        async def main():
            async for chunk in await getattr(build(seen, question, *script, stream=True), kickoff)():
                chunks.append(chunk.content)

        try:
            asyncio.run(main())
        finally:
            show(seen, chunks)

    return ask_astream


def ask_listener(seen, question, *script):
    """Listens to the events of model calls. An unmasked value in any of them is the answer."""
    shown = []
    with crewai_event_bus.scoped_handlers():
        for kind in (LLMStreamChunkEvent, LLMThinkingChunkEvent, LLMCallCompletedEvent):
            crewai_event_bus.on(kind)(lambda source, event: shown.append(event))
        try:
            ask(seen, question, *script)
        finally:
            crewai_event_bus.flush()
            note(seen, shown)
            texts = [each.response if isinstance(each, LLMCallCompletedEvent) else each.chunk for each in shown]
            if any("p4ssw0rd" in text for text in texts):
                seen["answer"] = "unmasked in an event"
            if len({type(each) for each in shown}) < 3 and seen["refused"] is None and seen["answer"] is not None:
                seen["answer"] = f"events of {len(shown)} kinds only"


def check_last_step():
    """After too many steps, CrewAI takes a call for the answer: it is checked as one."""
    seen = {"question": None, "ran_with": [], "result": None, "answer": None, "trace": [], "keeps_calling": True}
    crew = build(seen, "What is the weather?", {"city": ADDRESS}, "sunny", None)
    crew.agents[0].max_iter = 1
    raw = crew.kickoff().raw
    assert "Action Input:" in raw, f"the call is no answer: {raw}"
    assert not shows_secret(raw), "the answer is not masked"


check_last_step()
play(
    ask,
    stream=ask_stream,
    async_stream=astream_of("kickoff_async"),
    native_async_stream=astream_of("akickoff"),
    listener=ask_listener,
    native=ask_native,
)
