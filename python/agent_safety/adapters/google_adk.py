"""Guards agents of Google's ADK: prompts, tool calls, tool results and answers. Needs google-adk 2.0 or later.

    from google.adk.runners import InMemoryRunner
    from agent_safety.adapters.google_adk import GuardPlugin

    runner = InMemoryRunner(agent=agent, plugins=[GuardPlugin()])

The plug-in covers all agents of the runner, so that what agents transfer to each other is checked too. The model
receives a notice that the call was blocked; a blocked prompt or answer raises `BlockedError`.
"""

from __future__ import annotations

from typing import Any

from google.adk.plugins.base_plugin import BasePlugin

from .. import BlockedError, Guard, default_guard
from ..tools import refusal_text


class GuardPlugin(BasePlugin):
    """The plug-in for a runner."""

    def __init__(self, guard: Guard | None = None, name: str = "agent_safety") -> None:
        super().__init__(name=name)
        self.guard = guard or default_guard("google-adk")

    async def on_user_message_callback(self, *, invocation_context: Any, user_message: Any) -> Any:
        """Check what a person has said."""
        return await self._checked(user_message, self.guard.aio.protect.input)

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> Any:
        """Check the answer of the model. Pieces of a stream are held until its end."""
        content = llm_response.content
        if content is None:
            return None
        if llm_response.partial:
            # A piece alone cannot be judged. The whole answer follows, and is checked; so do its calls.
            parts = [
                part.model_copy(update={"text": ""}) if part.text else part
                for part in content.parts or []
                if not part.function_call
            ]
            return llm_response.model_copy(update={"content": content.model_copy(update={"parts": parts})})
        checked = await self._checked(content, self.guard.aio.protect.output)
        return None if checked is None else llm_response.model_copy(update={"content": checked})

    async def before_tool_callback(self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any) -> Any:
        """Check a call before it runs."""
        try:
            allowed = await self.guard.aio.protect.tool(tool.name, dict(tool_args))
        except BlockedError as error:
            return {"error": refusal_text(error)}
        if allowed != tool_args:
            # ADK keeps this very record.
            tool_args.clear()
            tool_args.update(allowed)
        return None

    async def after_tool_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any, result: Any
    ) -> Any:
        """Check the result of a tool before the model sees it."""
        try:
            checked = await self.guard.aio.protect.tool_result(tool.name, result)
        except BlockedError as error:
            return {"error": refusal_text(error)}
        if checked == result:
            return None
        return checked if isinstance(checked, dict) else {"result": checked}

    async def _checked(self, content: Any, check: Any) -> Any:
        """Return the content with checked text; `None` if nothing changed."""
        parts = []
        is_changed = False
        for part in content.parts or []:
            text = await check(part.text) if part.text else part.text
            is_changed = is_changed or text != part.text
            parts.append(part.model_copy(update={"text": text}) if text != part.text else part)
        return content.model_copy(update={"parts": parts}) if is_changed else None
