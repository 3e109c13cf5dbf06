import asyncio
import json
import re

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, ChatMessage, FunctionMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import tools_condition
from scenario import ADDRESS, note, play, shows_secret
from customshouse.adapters.langgraph import GuardNodes


class Scripted(BaseChatModel):
    script: dict

    @property
    def _llm_type(self):
        return "scripted"

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
            return ChatResult(generations=[ChatGeneration(message=AIMessage(content="", tool_calls=[call]))])
        return ChatResult(generations=[ChatGeneration(message=AIMessage(content=script["answer"], **script.get("extra", {})))])


def build(seen, arguments, result, answer, kind="function", extra=None):
    @tool
    def look_up(city: str) -> str:
        """Looks something up."""
        seen["ran_with"].append(city)
        return result

    llm = Scripted(script={"seen": seen, "arguments": arguments, "answer": answer, "extra": extra or {}})

    def model(state):
        return {"messages": [llm.invoke(state["messages"])]}

    async def amodel(state, config):
        return {"messages": [await llm.ainvoke(state["messages"], config)]}

    nodes = GuardNodes()
    # The runnable has the name of its node, whose results LangGraph shows.
    node = {"function": model, "async": amodel, "runnable": RunnableLambda(model, amodel, name="model")}[kind]
    graph = StateGraph(MessagesState)
    graph.add_node("check_input", nodes.check_input)
    graph.add_node("model", nodes.model_node(node))
    graph.add_node("tools", nodes.tool_node([look_up]))
    graph.add_edge(START, "check_input")
    graph.add_edge("check_input", "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile()


def given(question):
    return {"messages": [("user", question)]}


def ask(seen, question, *script):
    state = build(seen, *script).invoke(given(question))
    note(seen, state)
    seen["answer"] = state["messages"][-1].text


def ask_async(seen, question, *script):
    state = asyncio.run(build(seen, *script, "async").ainvoke(given(question)))
    note(seen, state)
    seen["answer"] = state["messages"][-1].text


def show(seen, mode, chunk):
    """Adds what a caller sees: the answer in the messages, and an unmasked value anywhere."""
    if mode == "messages" and isinstance(chunk[0], AIMessage):
        seen["answer"] = (seen["answer"] or "") + chunk[0].text
    note(seen, chunk)
    if "p4ssw0rd" in str(chunk):
        seen["answer"] = f"unmasked in {mode}"


def stream_of(kind):
    def ask_stream(seen, question, *script):
        for mode, chunk in build(seen, *script, kind).stream(given(question), stream_mode=MODES):
            show(seen, mode, chunk)

    return ask_stream


def astream_of(kind):
    def ask_astream(seen, question, *script):
        async def run():
            async for mode, chunk in build(seen, *script, kind).astream(given(question), stream_mode=MODES):
                show(seen, mode, chunk)

        asyncio.run(run())

    return ask_astream


def ask_events(seen, question, *script):
    """Reads the events of models and nodes. The answer is what the last node returned."""

    async def run():
        unmasked = []
        async for event in build(seen, *script, "async").astream_events(given(question)):
            note(seen, event)
            if "p4ssw0rd" in str(event):
                unmasked.append(event["event"])
            if event["event"] == "on_chain_end" and event["name"] == "model":
                seen["answer"] = event["data"]["output"]["messages"][-1].text or None
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


def check_messages():
    """A node shows its text in a message of any type but that of a tool, and each is masked."""
    for shown in (ChatMessage(ADDRESS, role="assistant"), SystemMessage(ADDRESS), FunctionMessage(ADDRESS, name="f")):
        node = GuardNodes().model_node(lambda state, shown=shown: {"messages": [shown]})
        found = RunnableLambda(node).invoke({"messages": []})["messages"][0]
        assert type(found) is type(shown) and found.text and not shows_secret(found.text), f"{found!r}"


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
        agent = build(seen, arguments, result, answer, "async", extra={"additional_kwargs": extra})
        shown.extend([chunk async for _, chunk in agent.astream(given(question), stream_mode=["messages", "updates"])])

    asyncio.run(run())


WAYS = (invoke, stream, astream)


MODES = ["messages", "updates", "values", "tasks"]
check_reasoning()
check_messages()
play(
    ask,
    asynchronous=ask_async,
    stream=stream_of("function"),
    runnable_stream=stream_of("runnable"),
    async_stream=astream_of("async"),
    async_runnable_stream=astream_of("runnable"),
    events=ask_events,
)
