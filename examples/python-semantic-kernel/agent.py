"""An agent of Semantic Kernel whose model calls a tool with a secret. The model is scripted, so no network is needed."""

import asyncio

from customshouse.adapters.semantic_kernel import guard_kernel, guarded_prompt
from scripted_model import model
from semantic_kernel import Kernel
from semantic_kernel.agents import ChatCompletionAgent
from semantic_kernel.functions import kernel_function

sent = []


@kernel_function
def send(key: str) -> str:
    """Sends a key."""
    sent.append(key)
    return "sent"


async def main():
    kernel = guard_kernel(Kernel())
    kernel.add_function("mail", send)
    agent = ChatCompletionAgent(service=model, kernel=kernel, name="helper")
    prompt = await guarded_prompt("Send the key.")
    return str(await agent.get_response(messages=prompt))


answer = asyncio.run(main())

assert sent == [], "the tool ran"
assert answer == "I could not, write to [REDACTED]."
print(f"The call was blocked, so the tool ran {len(sent)} times. The answer: {answer}")
