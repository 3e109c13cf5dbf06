"""Guards a kernel of Semantic Kernel: prompts, function calls, results and answers. Needs semantic-kernel 1.30 or later.

    from semantic_kernel import Kernel
    from agent_safety.adapters.semantic_kernel import guard_kernel, guarded_answer

    kernel = guard_kernel(Kernel())
    answer = await guarded_answer(agent.get_response("What is the weather?", kernel=kernel))

A blocked call of a function raises `BlockedError`; a model that made the call receives a notice. `guarded_prompt` and
`guarded_answer` check what goes to an agent of this kernel and what comes from it; prompts of functions are checked
by the kernel itself.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from semantic_kernel.filters.filter_types import FilterTypes
from semantic_kernel.functions import FunctionResult, KernelFunctionFromPrompt

from .. import Guard, default_guard


def guard_kernel(kernel: Any, guard: Guard | None = None) -> Any:
    """Add the filters of a guard to a kernel. Return the kernel."""
    own = guard or default_guard("semantic-kernel")

    # Semantic Kernel passes the second parameter by its name, `next`.
    async def on_function(context: Any, next: Any) -> None:
        if isinstance(context.function, KernelFunctionFromPrompt):
            await next(context)
            return
        name = context.function.fully_qualified_name
        arguments = dict(context.arguments)
        allowed = await own.aio.protect.tool(name, arguments)
        if allowed != arguments:
            context.arguments.clear()
            context.arguments.update(allowed)
        await next(context)
        value = None if context.result is None else context.result.value
        checked = await own.aio.protect.tool_result(name, value)
        if checked is not value:
            context.result = FunctionResult(function=context.function.metadata, value=checked)

    async def on_prompt(context: Any, next: Any) -> None:
        await next(context)
        context.rendered_prompt = await own.aio.protect.input(context.rendered_prompt)

    kernel.add_filter(FilterTypes.FUNCTION_INVOCATION, on_function)
    kernel.add_filter(FilterTypes.PROMPT_RENDERING, on_prompt)
    return kernel


async def guarded_prompt(prompt: str, guard: Guard | None = None) -> str:
    """Return the prompt that may go to an agent. Raise `BlockedError`."""
    return await (guard or default_guard("semantic-kernel")).aio.protect.input(prompt)


async def guarded_answer(answer: Awaitable[Any], guard: Guard | None = None) -> Any:
    """Await an answer of an agent, and return it with checked text. Raise `BlockedError`."""
    own = guard or default_guard("semantic-kernel")
    response = await answer
    for item in getattr(getattr(response, "message", response), "items", []):
        if isinstance(getattr(item, "text", None), str) and item.text:
            item.text = await own.aio.protect.output(item.text)
    return response
