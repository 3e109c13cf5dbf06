"""Guards agents of Google's ADK: prompts, tool calls, tool results and answers. Needs google-adk 2.0 or later.

    from google.adk.runners import InMemoryRunner
    from customshouse.adapters.google_adk import GuardPlugin

    runner = InMemoryRunner(agent=agent, plugins=[GuardPlugin()])

The plug-in covers all agents of the runner, so that what agents transfer to each other is checked too. The model
receives a notice that the call was blocked; a blocked prompt or answer raises `BlockedError`.
"""

from __future__ import annotations

import uuid
from typing import Any

from google.adk.plugins.base_plugin import BasePlugin

from .. import BlockedError, Guard, default_guard
from .._tool_error import checked_error, error_text
from ..tools import refusal_text
from ._held_calls import held_calls
from ._prompts import map_data_async


CALL_ID_PREFIX = "adk-"
"""Ids with this prefix are not sent to a model."""


class GuardPlugin(BasePlugin):
    """The plug-in for a runner."""

    def __init__(self, guard: Guard | None = None, name: str = "customshouse") -> None:
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
        # ADK gives a call its id only later.
        for call in [part.function_call for part in content.parts or [] if part.function_call]:
            call.id = call.id or f"{CALL_ID_PREFIX}{uuid.uuid4()}"
            call.args = await held_calls(self.guard).ahold(call.id, call.name or "", call.args)
        checked = await self._checked(content, self.guard.aio.protect.output)
        return None if checked is None else llm_response.model_copy(update={"content": checked})

    async def before_tool_callback(self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any) -> Any:
        """Check a call before it runs."""
        try:
            held = held_calls(self.guard)
            allowed = await held.adecide(tool_context.function_call_id, tool.name, dict(tool_args))
        except BlockedError as error:
            return {"error": refusal_text(error)}
        if allowed != tool_args:
            # ADK keeps this very record.
            tool_args.clear()
            tool_args.update(allowed)
        return None

    async def on_tool_error_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any, error: Exception
    ) -> Any:
        """Check the error of a tool, which another plug-in may show the model."""
        if isinstance(error, BlockedError):
            return None
        try:
            checked = await self.guard.aio.protect.tool_result(tool.name, error_text(error))
        except BlockedError as blocked:
            return {"error": refusal_text(blocked)}
        return None if checked_error(error, checked) is error else {"error": checked}

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
        parts = [await self._checked_part(each, check) for each in content.parts or []]
        is_same = all(new is old for new, old in zip(parts, content.parts or []))
        return None if is_same else content.model_copy(update={"parts": parts})

    async def _checked_part(self, part: Any, check: Any) -> Any:
        changes: dict[str, Any] = {}
        if part.text:
            changes["text"] = await check(part.text)
        for member, name in (("executable_code", "code"), ("code_execution_result", "output")):
            value = getattr(part, member)
            if value is not None and getattr(value, name):
                changes[member] = value.model_copy(update={name: await check(getattr(value, name))})
        if part.inline_data is not None and part.inline_data.data:
            data = await map_data_async(part.inline_data.mime_type or "", part.inline_data.data, check)
            changes["inline_data"] = part.inline_data.model_copy(update={"data": data})
        answer = part.function_response
        if answer is not None and answer.response:
            # The result of a tool that ran elsewhere.
            response = await self.guard.aio.protect.tool_result(answer.name or "tool", answer.response)
            changes["function_response"] = answer.model_copy(update={"response": response})
        changed = {name: value for name, value in changes.items() if value != getattr(part, name)}
        return part.model_copy(update=changed) if changed else part
