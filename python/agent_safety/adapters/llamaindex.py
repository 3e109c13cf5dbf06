"""Guards agents of LlamaIndex: prompts, tool calls, tool results and answers. Needs llama-index-core 0.13 or later.

    from llama_index.core.agent.workflow import FunctionAgent
    from agent_safety.adapters.llamaindex import guarded_tools, run

    agent = FunctionAgent(tools=guarded_tools([look_up, pay]), llm=llm)
    answer = await run(agent, "What is the weather?")

The model receives a notice that the call was blocked; a blocked prompt or answer raises `BlockedError`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.tools import AsyncBaseTool, FunctionTool, ToolOutput, adapt_to_async_tool
from llama_index.core.tools.types import BaseTool

from .. import BlockedError, Guard, default_guard
from ..tools import refusal_text


async def run(agent: Any, prompt: str, *, guard: Guard | None = None, **options: Any) -> str:
    """Do what `agent.run` does, behind the guard. Return the text of the answer."""
    own = guard or default_guard("llamaindex")
    asked = await own.aio.protect.input(prompt)
    answer = str(await agent.run(asked, **options))
    return await own.aio.protect.output(answer)


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
            result = self._tool.call(**self._guard.protect.tool(name, arguments))
            return self._shown(result, self._guard.protect.tool_result(name, result.content))
        except BlockedError as error:
            return self._output(arguments, refusal_text(error), True)

    async def acall(self, *args: Any, **kwargs: Any) -> Any:
        arguments = self._arguments(args, kwargs)
        name = self.metadata.name
        try:
            result = await self._tool.acall(**await self._guard.aio.protect.tool(name, arguments))
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
