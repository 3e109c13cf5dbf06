"""Guards an agent of LangChain: what it is asked, each tool call, each result, and what it answers.

    from langchain.agents import create_agent
    from service_langchain import ServiceGuard

    agent = create_agent(model, tools, middleware=[ServiceGuard()])

A call that is refused is told to the model as a failed one; a question or an answer that is refused raises Refused. What a
model streams is shown as it comes; to hold that back, have it called through the service (docs/reference/llm-proxy.md).
Needs langchain 1.0 or later. This file is yours to change.
"""

from messages import Guard, Refused, allowed_request, checked_input, checked_output, checked_result, refusal

import asyncio

from langchain.agents.middleware import AgentMiddleware


class ServiceGuard(AgentMiddleware):
    """Middleware for create_agent. One guard is one session: make one for each conversation."""

    def __init__(self, guard=None):
        super().__init__()
        self.guard = guard or Guard(agent_id="langchain")

    def before_model(self, state, runtime):
        return {"messages": checked_input(self.guard, state["messages"])}

    async def abefore_model(self, state, runtime):
        return await asyncio.to_thread(self.before_model, state, runtime)

    def after_model(self, state, runtime):
        return {"messages": checked_output(self.guard, state["messages"])}

    async def aafter_model(self, state, runtime):
        return await asyncio.to_thread(self.after_model, state, runtime)

    def wrap_tool_call(self, request, handler):
        try:
            allowed = allowed_request(self.guard, request)
        except Refused as refused:
            return refusal(request.tool_call, refused)
        return checked_result(self.guard, request.tool_call, handler(allowed))

    async def awrap_tool_call(self, request, handler):
        try:
            allowed = await asyncio.to_thread(allowed_request, self.guard, request)
        except Refused as refused:
            return refusal(request.tool_call, refused)
        result = await handler(allowed)
        return await asyncio.to_thread(checked_result, self.guard, request.tool_call, result)
