"""Guards agents of LlamaIndex: prompts, tool calls, tool results and answers. Needs llama-index-core 0.13 or later.

    from llama_index.core.agent.workflow import FunctionAgent
    from customshouse.adapters.llamaindex import guarded_tools, run

    agent = FunctionAgent(tools=guarded_tools([look_up, pay]), llm=llm)
    answer = await run(agent, "What is the weather?")

The model receives a notice that the call was blocked; a blocked prompt or answer raises `BlockedError`. The events of
`run_streamed` show each answer, its reasoning and the arguments of its calls when they are whole and checked:

    started = await run_streamed(agent, "What is the weather?")
    async for event in started.stream_events():
        ...
    answer = await started
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator, Sequence
from typing import Any

from llama_index.core.agent.workflow import AgentInput, AgentOutput, AgentSetup, AgentStream, ToolCall, ToolCallResult
from llama_index.core.agent.workflow.workflow_events import AgentStreamStructuredOutput
from llama_index.core.base.llms.types import AudioBlock, DocumentBlock, ImageBlock, MessageRole, TextBlock
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.tools import AsyncBaseTool, FunctionTool, ToolOutput, adapt_to_async_tool
from llama_index.core.tools.types import BaseTool
from llama_index.core.workflow import StopEvent

from .. import BlockedError, Guard, default_guard
from .._tool_error import run_tool, run_tool_async
from ..tools import refusal_text
from ..verdict import failed_verdict
from ._held_calls import held_calls, replace_arguments
from ._prompts import map_data_async
from ._shown import ShownTexts
from ._views import is_view, view_with


async def run(agent: Any, prompt: str, *, guard: Guard | None = None, **options: Any) -> str:
    """Do what `agent.run` does, behind the guard. Return the text of the answer."""
    own = guard or default_guard("llamaindex")
    asked, given = await _check_prompt(own, prompt, options)
    _hold_models(agent)
    answer = str(await agent.run(asked, **given))
    return await own.aio.protect.output(answer)


async def run_streamed(agent: Any, prompt: str, *, guard: Guard | None = None, **options: Any) -> GuardedRun:
    """Start what `agent.run` starts, behind the guard. Await it, because the prompt is checked first."""
    own = guard or default_guard("llamaindex")
    asked, given = await _check_prompt(own, prompt, options)
    _hold_models(agent)
    return GuardedRun(agent.run(asked, **given), own)


async def _check_prompt(guard: Guard, prompt: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the prompt and the options of a run with checked messages of people."""
    if isinstance(prompt, str):
        asked: Any = await guard.aio.protect.input(prompt)
    else:
        asked = await _check_message(guard, prompt)
    history = options.get("chat_history") or []
    return asked, {**options, **({"chat_history": [await _check_message(guard, each) for each in history]} if history else {})}


async def _check_message(guard: Guard, message: Any) -> Any:
    if message.role != MessageRole.USER:
        return message
    return message.model_copy(update={"blocks": [await _check_block(guard, each) for each in message.blocks]})


async def _check_block(guard: Guard, block: Any) -> Any:
    check = guard.aio.protect.input
    if isinstance(block, TextBlock):
        return TextBlock(text=await check(block.text)) if block.text else block
    if isinstance(block, DocumentBlock) and isinstance(block.data, bytes):
        # LlamaIndex keeps the data as base64.
        data = await map_data_async(block.document_mimetype or "", block.data.decode("ascii"), check)
        return block.model_copy(update={"data": data.encode("ascii")})
    return block


class GuardedRun:
    """A run that `run_streamed` started. Await it for the output of the agent, as the handler of LlamaIndex."""

    def __init__(self, handler: Any, guard: Guard) -> None:
        self._handler = handler
        self._texts = ShownTexts(guard)
        self.ctx = handler.ctx
        """The context of the workflow, which takes events such as the answer of a person."""

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._result().__await__()

    async def _result(self) -> Any:
        return await self._shown(await self._handler)

    async def cancel_run(self) -> None:
        """Stop the run."""
        await self._handler.cancel_run()

    async def stream_events(self) -> AsyncIterator[Any]:
        """Yield the events of the run. Pieces of an answer come as one event, and what the agent was given is left out.

        A block stops the run and raises `BlockedError`.
        """
        pieces: list[Any] = []
        try:
            async for event in self._handler.stream_events():
                if isinstance(event, AgentStream):
                    pieces.append(event)
                    continue
                if pieces:
                    yield await self._join(pieces)
                    pieces = []
                if not isinstance(event, (AgentInput, AgentSetup)):
                    yield await self._shown(event)
        except BlockedError:
            await self._handler.cancel_run()
            raise

    async def _join(self, pieces: list[Any]) -> Any:
        """Return one event in the place of the pieces of an answer. A piece alone cannot be judged."""
        last = pieces[-1]
        changes = {
            "delta": await self._texts.check("".join(each.delta for each in pieces)),
            "response": await self._texts.check(last.response),
            "tool_calls": await self._calls(last.tool_calls),
            "raw": None,
        }
        # Older versions show no reasoning.
        thought = "".join(getattr(each, "thinking_delta", None) or "" for each in pieces)
        if thought:
            changes["thinking_delta"] = thought if await self._texts.is_unchanged(thought) else None
        return last.model_copy(update=changes)

    async def _shown(self, event: Any) -> Any:
        if isinstance(event, str):
            return await self._texts.check(event)
        if type(event) is StopEvent:
            return StopEvent(result=await self._shown(event.result))
        if isinstance(event, AgentOutput):
            return event.model_copy(
                update={
                    "response": await self._message(event.response),
                    "structured_response": await self._structured(event.structured_response),
                    "tool_calls": await self._calls(event.tool_calls),
                    "retry_messages": [],
                    "raw": None,
                }
            )
        if isinstance(event, AgentStreamStructuredOutput):
            return event.model_copy(update={"output": await self._structured(event.output)})
        if isinstance(event, (ToolCall, ToolCallResult)):
            return (await self._calls([event]))[0]
        if await self._texts.is_unchanged(event):
            return event
        raise _block_masked(f"An event of the type `{type(event).__name__}`")

    async def _calls(self, calls: Sequence[Any]) -> list[Any]:
        return [await self._call(each) for each in calls]

    async def _call(self, call: Any) -> Any:
        arguments = await self._texts.check_arguments(call.tool_kwargs)
        changes: dict[str, Any] = {"tool_kwargs": arguments}
        output = getattr(call, "tool_output", None)
        if output is not None:
            text = await self._texts.check(output.content)
            changes["tool_output"] = output.model_copy(
                update={"raw_input": arguments}
                if text == output.content
                else {"raw_input": arguments, "blocks": [TextBlock(text=text)], "raw_output": text}
            )
        return call.model_copy(update=changes)

    async def _structured(self, value: Any) -> Any:
        if value is None or await self._texts.is_unchanged(value):
            return value
        shown = await self._texts.check_arguments(value)
        if shown:
            return shown
        raise _block_masked("A structured answer")

    async def _message(self, message: Any) -> Any:
        """Return a message as it may be shown. What the provider sent next to its text is left out."""
        text = message.content or ""
        checked = await self._texts.check(text)
        blocks: list[Any] = []
        for each in message.blocks:
            if isinstance(each, TextBlock):
                blocks.append(each)
            # Calls are shown as such. Reasoning that would have to be masked is left out.
            elif each.block_type != "tool_call":
                if isinstance(each, _MEDIA) or await self._texts.is_unchanged(each):
                    blocks.append(each)
        if checked != text:
            blocks = [each for each in blocks if not isinstance(each, TextBlock)] + [TextBlock(text=checked)]
        return message.model_copy(update={"blocks": blocks, "additional_kwargs": {}})


_MEDIA = (AudioBlock, DocumentBlock, ImageBlock)


def _block_masked(subject: str) -> BlockedError:
    return BlockedError(failed_verdict("sdk.masked", f"{subject} would have to be masked, so it is blocked."))


def _hold_models(agent: Any) -> None:
    """Let the models of an agent, or of the agents of a workflow, hold the arguments of their calls."""
    agents = getattr(agent, "agents", None)
    for each in agents.values() if isinstance(agents, dict) else [agent]:
        if isinstance(getattr(each, "llm", None), FunctionCallingLLM) and not is_view(each.llm):
            each.llm = _held_model(each.llm)


def _held_model(llm: Any) -> Any:
    own = type(llm)

    async def achat_with_tools(self: Any, tools: Any, *values: Any, **options: Any) -> Any:
        return await _hold_response(self, tools, await own.achat_with_tools(self, tools, *values, **options))

    async def astream_chat_with_tools(self: Any, tools: Any, *values: Any, **options: Any) -> Any:
        responses = await own.astream_chat_with_tools(self, tools, *values, **options)

        async def hold_last() -> AsyncIterator[Any]:
            # The last piece is the whole answer, which the conversation holds.
            last = None
            async for response in responses:
                if last is not None:
                    yield last
                last = response
            if last is not None:
                yield await _hold_response(self, tools, last)

        return hold_last()

    return view_with(llm, achat_with_tools=achat_with_tools, astream_chat_with_tools=astream_chat_with_tools)


async def _hold_response(llm: Any, tools: Sequence[Any], response: Any) -> Any:
    guards = {each.metadata.name: each._guard for each in tools if isinstance(each, _GuardedTool)}
    for call in llm.get_tool_calls_from_response(response, error_on_no_tool_call=False) or ():
        if call.tool_name in guards:
            # The tool is not told its call's id.
            held = await held_calls(guards[call.tool_name]).ahold(None, call.tool_name, call.tool_kwargs)
            response = replace_arguments(response, call.tool_kwargs, held)
    return response


def guarded_tools(tools: Sequence[Any], guard: Guard | None = None) -> list[Any]:
    """Return the same tools behind the guard. Functions are taken too."""
    own = guard or default_guard("llamaindex")
    return [_GuardedTool(each if isinstance(each, BaseTool) else FunctionTool.from_defaults(each), own) for each in tools]


class _GuardedTool(AsyncBaseTool):
    def __init__(self, tool: Any, guard: Guard) -> None:
        if getattr(tool, "requires_context", False):
            raise TypeError(f"{tool.metadata.name} takes the context of the workflow, which only a FunctionTool is given.")
        self._tool = adapt_to_async_tool(tool)
        self._guard = guard

    @property
    def metadata(self) -> Any:
        return self._tool.metadata

    def call(self, *args: Any, **kwargs: Any) -> Any:
        arguments = self._arguments(args, kwargs)
        name = self.metadata.name
        try:
            allowed = held_calls(self._guard).decide(None, name, arguments)
            result = run_tool(self._guard.protect, name, lambda: self._tool.call(**allowed))
            return self._shown(result, self._guard.protect.tool_result(name, result.content))
        except BlockedError as error:
            return self._output(arguments, refusal_text(error), True)

    async def acall(self, *args: Any, **kwargs: Any) -> Any:
        arguments = self._arguments(args, kwargs)
        name = self.metadata.name
        try:
            allowed = await held_calls(self._guard).adecide(None, name, arguments)
            result = await run_tool_async(self._guard.aio.protect, name, lambda: self._tool.acall(**allowed))
            return self._shown(result, await self._guard.aio.protect.tool_result(name, result.content))
        except BlockedError as error:
            return self._output(arguments, refusal_text(error), True)

    def _arguments(self, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Some callers give a single argument by its place."""
        names = list(self.metadata.get_parameters_dict().get("properties", {}))
        return {**dict(zip(names, args)), **kwargs}

    def _shown(self, result: Any, checked: str) -> Any:
        if checked == result.content:
            return result
        return self._output(result.raw_input, checked, result.is_error)

    def _output(self, raw_input: Any, text: str, is_error: bool) -> Any:
        name = self.metadata.name
        return ToolOutput(tool_name=name, content=text, raw_input=raw_input, raw_output=text, is_error=is_error)
