"""Guards agents of the Claude Agent SDK: prompts, tool calls and tool results. Needs claude-agent-sdk 0.2 or later.

    from claude_agent_sdk import ClaudeAgentOptions, query
    from customshouse.adapters.claude_agent import guard_hooks, guarded_query

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

from claude_agent_sdk import (
    AssistantMessage,
    HookMatcher,
    ResultMessage,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
    query,
)
from claude_agent_sdk.types import StreamEvent

from .. import BlockedError, Guard, default_guard
from ..tools import refusal_text
from ..verdict import failed_verdict
from ._shown import ShownTexts

WITHHELD = "A tool failed, and its error holds data that the model may not read."
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

    withheld: set[str] = set()

    async def after_failure(given: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        verdict = await own.aio.tool_result(given["tool_name"], given["error"])
        if verdict.decision != "allow":
            withheld.add(given["tool_use_id"])
        return {}

    async def after_batch(given: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        # The error of a tool cannot be changed, so the run ends before the model reads it.
        failed = {each["tool_use_id"] for each in given["tool_calls"]} & withheld
        withheld.difference_update(failed)
        return {"continue_": False, "stopReason": WITHHELD} if failed else {}

    # A hook waits as long as an approver may take.
    seconds = own.options.approval_timeout_seconds + 30
    return {
        "UserPromptSubmit": [HookMatcher(hooks=[before_prompt], timeout=seconds)],
        "PreToolUse": [HookMatcher(hooks=[before_tool], timeout=seconds)],
        "PostToolUse": [HookMatcher(hooks=[after_tool], timeout=seconds)],
        "PostToolUseFailure": [HookMatcher(hooks=[after_failure], timeout=seconds)],
        "PostToolBatch": [HookMatcher(hooks=[after_batch], timeout=seconds)],
    }


async def guarded_query(prompt: str, options: Any, guard: Guard | None = None, **more: Any) -> AsyncIterator[Any]:
    """Do what `query` does, and check the prompt and the text of answers. Raise `BlockedError`."""
    own = guard or default_guard("claude-agent")
    allowed = await own.aio.protect.input(prompt)
    async for message in query(prompt=allowed, options=options, **more):
        # A piece alone cannot be judged. The whole message follows.
        if not isinstance(message, StreamEvent):
            yield await check_message(message, own)


async def _check_error(block: Any, guard: Guard) -> Any:
    """Return a block with a checked error of a tool, which no hook can change."""
    if not isinstance(block, ToolResultBlock) or not block.is_error:
        return block
    verdict = await guard.aio.tool_result("tool", block.content)
    return block if verdict.decision == "allow" else replace(block, content=WITHHELD)


async def check_message(message: Any, guard: Guard) -> Any:
    """Return a message of the SDK with checked text. Raise `BlockedError`."""
    texts = ShownTexts(guard)
    if isinstance(message, ResultMessage):
        structured = getattr(message, "structured_output", None)
        if structured is not None and not await texts.is_unchanged(structured):
            reason = "A structured answer would have to be masked, so it is blocked."
            raise BlockedError(failed_verdict("sdk.structured_output", reason))
        return replace(message, result=await texts.check(message.result)) if message.result else message
    if isinstance(message, UserMessage) and isinstance(message.content, list):
        blocks = [await _check_error(each, guard) for each in message.content]
        is_same = all(new is old for new, old in zip(blocks, message.content))
        # The result is there a second time.
        return message if is_same else replace(message, content=blocks, tool_use_result=None)
    if not isinstance(message, AssistantMessage):
        return message
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
