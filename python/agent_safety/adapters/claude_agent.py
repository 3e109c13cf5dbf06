"""Guards agents of the Claude Agent SDK: prompts, tool calls and tool results. Needs claude-agent-sdk 0.2 or later.

    from claude_agent_sdk import ClaudeAgentOptions, query
    from agent_safety.adapters.claude_agent import guard_hooks, guarded_query

    async for message in guarded_query("What is the weather?", ClaudeAgentOptions(hooks=guard_hooks())):
        ...

Claude receives a notice that the call was blocked. A prompt with something to mask is blocked, because the SDK cannot
change a prompt. `guarded_query` also checks the text of answers, their reasoning and the calls that they show. It leaves
out partial messages. A hook that fails blocks.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

from claude_agent_sdk import AssistantMessage, HookMatcher, ResultMessage, TextBlock, ThinkingBlock, ToolUseBlock, query
from claude_agent_sdk.types import StreamEvent

from .. import BlockedError, Guard, default_guard
from ..tools import refusal_text
from ._shown import ShownTexts

FAULT = "Refused: a fault in the guard."


def guard_hooks(guard: Guard | None = None) -> dict[str, list[Any]]:
    """Return the value of `ClaudeAgentOptions.hooks`."""
    own = guard or default_guard("claude-agent")

    async def before_prompt(given: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        try:
            verdict = await own.aio.input(given["prompt"])
            if verdict.decision == "allow":
                return {}
            reason = verdict.reason
        except Exception:
            reason = FAULT
        return {"decision": "block", "reason": f"Refused: {reason}"}

    async def before_tool(given: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        output: dict[str, Any] = {"hookEventName": "PreToolUse"}
        try:
            arguments = given["tool_input"]
            allowed = await own.aio.protect.tool(given["tool_name"], arguments)
            if allowed == arguments:
                return {}
            # Without a decision the permissions of the user still apply to the changed call.
            output["updatedInput"] = allowed
        except BlockedError as error:
            output.update(permissionDecision="deny", permissionDecisionReason=refusal_text(error))
        except Exception:
            output.update(permissionDecision="deny", permissionDecisionReason=FAULT)
        return {"hookSpecificOutput": output}

    async def after_tool(given: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        try:
            result = given["tool_response"]
            checked = await own.aio.protect.tool_result(given["tool_name"], result)
            if checked == result:
                return {}
        except BlockedError as error:
            checked = refusal_text(error)
        except Exception:
            checked = FAULT
        return {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": checked}}

    # A hook waits as long as an approver may take.
    seconds = own.options.approval_timeout_seconds + 30
    return {
        "UserPromptSubmit": [HookMatcher(hooks=[before_prompt], timeout=seconds)],
        "PreToolUse": [HookMatcher(hooks=[before_tool], timeout=seconds)],
        "PostToolUse": [HookMatcher(hooks=[after_tool], timeout=seconds)],
    }


async def guarded_query(prompt: str, options: Any, guard: Guard | None = None, **more: Any) -> AsyncIterator[Any]:
    """Do what `query` does, and check the prompt and the text of answers. Raise `BlockedError`."""
    own = guard or default_guard("claude-agent")
    allowed = await own.aio.protect.input(prompt)
    async for message in query(prompt=allowed, options=options, **more):
        # A piece alone cannot be judged. The whole message follows.
        if not isinstance(message, StreamEvent):
            yield await check_message(message, own)


async def check_message(message: Any, guard: Guard) -> Any:
    """Return a message of the SDK with checked text. Raise `BlockedError`."""
    if isinstance(message, ResultMessage) and isinstance(message.result, str):
        return replace(message, result=await guard.aio.protect.output(message.result))
    if not isinstance(message, AssistantMessage):
        return message
    texts = ShownTexts(guard)
    blocks = []
    for block in message.content:
        if isinstance(block, TextBlock):
            block = replace(block, text=await texts.check(block.text))
        elif isinstance(block, ToolUseBlock):
            block = replace(block, input=await texts.check_arguments(block.input))
        elif isinstance(block, ThinkingBlock) and not await texts.is_unchanged(block.thinking):
            continue
        blocks.append(block)
    return replace(message, content=blocks)
