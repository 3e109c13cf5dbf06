"""Ways in which text could pass an adapter. Prints their number, and ends with an error if text passes."""

import warnings

from langchain.agents import create_agent
from langchain.agents.structured_output import ToolStrategy
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ChatMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.types import Command
from pydantic import BaseModel
from pydantic_ai import Agent, BinaryContent, ModelRetry, ToolReturn
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import FunctionModel
from scenario import ADDRESS, KEY, SSN, shows_secret
from strands import Agent as StrandsAgent
from strands.models import Model

from customshouse import BlockedError, ToolError, guarded_tool, quickstart
from customshouse.adapters.langchain import GuardMiddleware
from customshouse.adapters.pydantic_ai import GuardCapability
from customshouse.adapters.strands import GuardHooks

GUARD = quickstart()
PROMPT = f"Use key {KEY}"


class Setting(BaseModel):
    value: str


def is_blocked(call):
    """Returns whether a call raises the error of a block."""
    try:
        call()
    except BlockedError:
        return True
    return False


class Scripted(BaseChatModel):
    answers: list
    asked: list

    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, **options):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **options):
        self.asked.append(messages)
        message = self.answers[min(len(self.asked), len(self.answers)) - 1]
        return ChatResult(generations=[ChatGeneration(message=message)])


def ask_langchain(messages, answers=(AIMessage("Noted."),), tools=(), **options):
    """Returns what the model was asked last, and the state of the agent."""
    model = Scripted(answers=list(answers), asked=[])
    agent = create_agent(model, list(tools), middleware=[GuardMiddleware(GUARD)], **options)
    state = agent.invoke({"messages": messages})
    return model.asked[-1], state


def langchain_structured():
    def ask(value):
        calls = [{"name": "Setting", "args": {"value": value}, "id": "c1"}]
        answer = AIMessage(content="", tool_calls=calls)
        return ask_langchain([HumanMessage("hello")], [answer], response_format=ToolStrategy(Setting))[1]

    assert ask("none")["structured_response"] == Setting(value="none")
    assert is_blocked(lambda: ask(ADDRESS))


def langchain_prompts():
    assert is_blocked(lambda: ask_langchain([HumanMessage(PROMPT), AIMessage("Noted."), HumanMessage("hello")]))
    assert is_blocked(lambda: ask_langchain([ChatMessage(PROMPT, role="user")]))
    file = {"type": "text-plain", "text": PROMPT, "mime_type": "text/plain", "source_type": "text"}
    assert is_blocked(lambda: ask_langchain([HumanMessage([file])]))
    image = {"type": "image", "url": "https://example.com/kept.png"}
    asked, _ = ask_langchain([HumanMessage([{"type": "text", "text": SSN}, image])])
    assert "kept.png" in str(asked) and not shows_secret(asked)


def langchain_command():
    @tool
    def look_up():
        """Looks something up."""
        messages = [ToolMessage(content="Noted.", tool_call_id="c1"), HumanMessage(ADDRESS)]
        return Command(update={"messages": messages})

    calls = [{"name": "look_up", "args": {}, "id": "c1"}]
    answers = [AIMessage(content="", tool_calls=calls), AIMessage("Noted.")]
    asked, _ = ask_langchain([HumanMessage("hello")], answers, [look_up])
    assert "[REDACTED]" in str(asked) and not shows_secret(asked)


def ask_pydantic(prompt, tools=(), **options):
    """Returns what the model was asked, as text."""
    asked = []

    def answer(messages, info):
        asked.append(str(messages))
        is_first = len(asked) == 1 and tools
        return ModelResponse(parts=[ToolCallPart("look_up", {}) if is_first else TextPart("Noted.")])

    Agent(FunctionModel(answer), tools=tools, capabilities=[GuardCapability(GUARD)]).run_sync(prompt, **options)
    return asked


def pydantic_prompts():
    history = [ModelRequest(parts=[UserPromptPart(PROMPT)]), ModelResponse(parts=[TextPart("Noted.")])]
    assert is_blocked(lambda: ask_pydantic("hello", message_history=history))
    file = BinaryContent(PROMPT.encode(), media_type="text/plain")
    assert is_blocked(lambda: ask_pydantic(["hello", file]))
    assert "hello" in ask_pydantic(["hello", BinaryContent(b"hello", media_type="text/plain")])[0]


def pydantic_results():
    def retry():
        """Looks something up."""
        raise ModelRetry(ADDRESS)

    def content():
        """Looks something up."""
        return ToolReturn(return_value="Noted.", content=ADDRESS)

    for look_up in (retry, content):
        look_up.__name__ = "look_up"
        asked = ask_pydantic("hello", [look_up])
        assert "[REDACTED]" in asked[-1] and not shows_secret(asked)


class ScriptedStrands(Model):
    asked: list = []

    def update_config(self, **options):
        pass

    def get_config(self):
        return {}

    async def structured_output(self, output_model, prompt, system_prompt=None, **options):
        yield {"output": output_model(value=ADDRESS)}

    async def stream(self, messages, *args, **options):
        self.asked.append(str(messages))
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockDelta": {"delta": {"text": "Noted."}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}


def strands_prompts():
    def ask(prompt, **options):
        return StrandsAgent(model=ScriptedStrands(), hooks=[GuardHooks(GUARD)], callback_handler=None, **options)(prompt)

    document = {"document": {"format": "txt", "name": "note", "source": {"bytes": PROMPT.encode()}}}
    assert is_blocked(lambda: ask([document, {"text": "hello"}]))
    history = [{"role": "user", "content": [{"text": PROMPT}]}, {"role": "assistant", "content": [{"text": "Noted."}]}]
    assert is_blocked(lambda: ask("hello", messages=history))
    assert "Noted." in str(ask("hello"))
    assert not shows_secret(ScriptedStrands.asked)


def strands_structured():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agent = StrandsAgent(model=ScriptedStrands(), hooks=[GuardHooks(GUARD)], callback_handler=None)
        assert is_blocked(lambda: agent.structured_output(Setting, "hello"))


def tool_errors():
    def fail(text):
        try:
            raise ValueError(text)
        except ValueError as error:
            raise RuntimeError("It failed.") from error

    guarded = guarded_tool(guard=GUARD)(fail)
    try:
        guarded("nothing secret")
    except RuntimeError as error:
        assert str(error) == "It failed." and isinstance(error.__cause__, ValueError)
    try:
        guard_fails = GUARD.run("fail", {}, lambda: fail(ADDRESS))
    except ToolError as error:
        guard_fails = error
    assert "[REDACTED]" in str(guard_fails) and not shows_secret(guard_fails)
    assert guard_fails.__cause__ is None and guard_fails.__context__ is None


WAYS = (
    langchain_command,
    langchain_prompts,
    langchain_structured,
    pydantic_prompts,
    pydantic_results,
    strands_prompts,
    strands_structured,
    tool_errors,
)
for way in WAYS:
    way()
print(f"{len(WAYS)} ways")
