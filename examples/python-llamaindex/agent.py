"""An agent of LlamaIndex whose model calls a tool with a secret. The model is scripted, so no network is needed."""

import asyncio

from customshouse.adapters.llamaindex import guarded_tools, run
from llama_index.core.agent.workflow import FunctionAgent
from scripted_model import model

sent = []


def send(key: str) -> str:
    """Sends a key."""
    sent.append(key)
    return "sent"


async def main():
    agent = FunctionAgent(tools=guarded_tools([send]), llm=model)
    return await run(agent, "Send the key.")


answer = asyncio.run(main())

assert sent == [], "the tool ran"
assert answer == "I could not, write to [REDACTED]."
print(f"The call was blocked, so the tool ran {len(sent)} times. The answer: {answer}")
