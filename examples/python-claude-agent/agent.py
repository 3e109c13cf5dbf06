"""An agent of the Claude Agent SDK whose model calls a tool with a secret. The model is a scripted local server."""

import asyncio

from customshouse.adapters.claude_agent import guard_hooks, guarded_query
from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, create_sdk_mcp_server, tool
from scripted_model import environment

sent = []


@tool("send", "Sends a key.", {"key": str})
async def send(arguments):
    sent.append(arguments["key"])
    return {"content": [{"type": "text", "text": "sent"}]}


async def main():
    options = ClaudeAgentOptions(
        hooks=guard_hooks(),
        mcp_servers={"mail": create_sdk_mcp_server("mail", tools=[send])},
        allowed_tools=["mcp__mail__send"],
        setting_sources=[],
        env=environment,
    )
    async for message in guarded_query("Send the key.", options):
        if isinstance(message, ResultMessage):
            answer = message.result
    return answer


answer = asyncio.run(main())

assert sent == [], "the tool ran"
assert answer == "I could not, write to [REDACTED]."
print(f"The call was blocked, so the tool ran {len(sent)} times. The answer: {answer}")
