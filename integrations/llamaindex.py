"""Guards an agent of LlamaIndex: what it is asked, each tool call, each result, and what it answers.

    from llama_index.core.agent.workflow import FunctionAgent
    from service_llamaindex import guarded_tools, run

    agent = FunctionAgent(tools=guarded_tools([look_up, pay]), llm=llm)
    answer = await run(agent, "What is the weather?")

A call that is refused is told to the model as a failed one; a question or an answer that is refused raises Refused.
Needs llama-index-core 0.13 or later. This file is yours to change.
"""

from guard import Guard, Refused

import asyncio

from llama_index.core.tools import AsyncBaseTool, FunctionTool, ToolOutput, adapt_to_async_tool
from llama_index.core.tools.types import BaseTool

guard = Guard(agent_id="llamaindex")


async def run(agent, text, **options):
    """agent.run, with the question and the answer judged. Comes back with the text of the answer."""
    asked = await asyncio.to_thread(guard.check_input, text)
    answer = str(await agent.run(asked, **options))
    return await asyncio.to_thread(guard.check_output, answer)


def guarded_tools(tools):
    """The same tools, each call and each result of which is judged. Functions are taken too."""
    return [_GuardedTool(each if isinstance(each, BaseTool) else FunctionTool.from_defaults(each)) for each in tools]


class _GuardedTool(AsyncBaseTool):
    def __init__(self, tool):
        if getattr(tool, "requires_context", False):
            raise TypeError(f"{tool.metadata.name} takes the context of the workflow, which only a FunctionTool is given.")
        self._tool = adapt_to_async_tool(tool)

    @property
    def metadata(self):
        return self._tool.metadata

    def call(self, *args, **kwargs):
        arguments = self._arguments(args, kwargs)
        try:
            result = self._tool.call(**guard.check_call(self.metadata.name, arguments))
            return self._shown(result)
        except Refused as refused:
            return self._refusal(arguments, refused)

    async def acall(self, *args, **kwargs):
        arguments = self._arguments(args, kwargs)
        try:
            allowed = await asyncio.to_thread(guard.check_call, self.metadata.name, arguments)
            result = await self._tool.acall(**allowed)
            return await asyncio.to_thread(self._shown, result)
        except Refused as refused:
            return self._refusal(arguments, refused)

    def _arguments(self, args, kwargs):
        """Some callers give a single argument by its place."""
        names = list(self.metadata.get_parameters_dict().get("properties", {}))
        return {**dict(zip(names, args)), **kwargs}

    def _shown(self, result):
        checked = guard.check_result(self.metadata.name, result.content)
        if checked == result.content:
            return result
        return self._output(result.raw_input, checked, result.is_error)

    def _refusal(self, arguments, refused):
        return self._output(arguments, str(refused), True)

    def _output(self, raw_input, text, is_error):
        return ToolOutput(
            tool_name=self.metadata.name, content=text, raw_input=raw_input, raw_output=text, is_error=is_error
        )
