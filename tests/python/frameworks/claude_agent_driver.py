"""The SDK in front of a scripted Claude Code, which speaks the SDK's protocol and calls its hooks."""

import asyncio
import json

from customshouse import default_guard
from customshouse.adapters.claude_agent import guard_hooks, guarded_query
from claude_agent_sdk import AssistantMessage, ClaudeAgentOptions, TextBlock, Transport
from scenario import play, shows_secret


class Scripted(Transport):
    def __init__(self, seen, arguments, result, answer):
        self.script = seen, arguments, result, answer
        self.lines = asyncio.Queue()
        self.replies = {}
        self.hooks = {}

    async def connect(self):
        pass

    def is_ready(self):
        return True

    async def end_input(self):
        pass

    async def close(self):
        await self.lines.put(None)

    async def write(self, data):
        for line in data.splitlines():
            message = json.loads(line)
            if message["type"] == "control_request":
                hooks = message["request"].get("hooks") or {}
                self.hooks = {name: each[0]["hookCallbackIds"][0] for name, each in hooks.items()}
                response = {"subtype": "success", "request_id": message["request_id"], "response": {}}
                await self.lines.put({"type": "control_response", "response": response})
            elif message["type"] == "control_response":
                self.replies.pop(message["response"]["request_id"]).set_result(message["response"].get("response", {}))
            elif message["type"] == "user":
                content = message["message"]["content"]
                self.turn = asyncio.ensure_future(self.play(content))

    async def read_messages(self):
        while (line := await self.lines.get()) is not None:
            yield line

    async def hook(self, name, **given):
        number = f"r{len(self.replies)}{name}"
        self.replies[number] = reply = asyncio.get_running_loop().create_future()
        request = {"subtype": "hook_callback", "callback_id": self.hooks[name], "input": given, "tool_use_id": "t1"}
        await self.lines.put({"type": "control_request", "request_id": number, "request": request})
        return await reply

    async def play(self, prompt):
        seen, arguments, result, answer = self.script
        if (await self.hook("UserPromptSubmit", prompt=prompt)).get("decision") != "block":
            seen["question"] = prompt
            if arguments is not None:
                await self.say({"type": "tool_use", "id": "t1", "name": "look_up", "input": arguments})
                seen["result"] = await self.call("look_up", arguments, result)
            delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": answer}}
            await self.lines.put({"type": "stream_event", "uuid": "u1", "session_id": "s1", "event": delta})
            await self.say({"type": "thinking", "thinking": answer, "signature": "s"}, {"type": "text", "text": answer})
        last = {"subtype": "success", "duration_ms": 1, "duration_api_ms": 1, "is_error": False, "num_turns": 1}
        await self.lines.put({"type": "result", **last, "session_id": "s1", "result": answer})
        await self.lines.put(None)

    async def say(self, *content):
        message = {"role": "assistant", "model": "scripted", "content": [*content]}
        await self.lines.put({"type": "assistant", "message": message, "parent_tool_use_id": None})

    async def call(self, name, arguments, result):
        before = (await self.hook("PreToolUse", tool_name=name, tool_input=arguments)).get("hookSpecificOutput", {})
        if before.get("permissionDecision") == "deny":
            return before["permissionDecisionReason"]
        try:
            self.script[0]["ran_with"].append(before.get("updatedInput", arguments)["city"])
        except RuntimeError as error:
            return await self.fail({"tool_name": name, "tool_input": arguments, "tool_use_id": "t1"}, str(error))
        given = {"tool_name": name, "tool_input": arguments, "tool_response": result}
        after = (await self.hook("PostToolUse", **given)).get("hookSpecificOutput", {})
        return after.get("updatedToolOutput", result)


    async def fail(self, call, error):
        """Shows the error as Claude Code does. Returns what the model reads: nothing if a hook ends the run."""
        await self.hook("PostToolUseFailure", **call, error=error)
        block = {"type": "tool_result", "tool_use_id": "t1", "content": error, "is_error": True}
        await self.lines.put({"type": "user", "message": {"role": "user", "content": [block]}})
        batch = await self.hook("PostToolBatch", tool_calls=[{**call, "tool_response": error}])
        return error if batch.get("continue", True) else None


def ask(seen, question, arguments, result, answer):
    async def main():
        guard = default_guard("claude-agent")
        transport = Scripted(seen, arguments, result, answer)
        options = ClaudeAgentOptions(hooks=guard_hooks(guard))
        async for message in guarded_query(question, options, guard, transport=transport):
            if isinstance(message, AssistantMessage):
                seen["answer"] = next((each.text for each in message.content if isinstance(each, TextBlock)), None)
            if shows_secret(message):
                raise AssertionError(f"a secret in {type(message).__name__}")

    asyncio.run(asyncio.wait_for(main(), 60))


# Claude Code holds the conversation, and no hook can change a call there.
play(ask, traced=False)
