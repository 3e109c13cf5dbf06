"""Guards agents of Semantic Kernel. Needs the package `customshouse`.

    from service_semantic_kernel import guard_kernel, guarded_prompt

    kernel = guard_kernel(Kernel())
    answer = await agent.get_response(messages=await guarded_prompt(text))

With `SERVICE_URL` in the environment the service there decides, else this process does. This file is yours to change.
"""

from customshouse.adapters.semantic_kernel import guard_kernel, guarded_answer, guarded_prompt, guarded_stream

__all__ = ["guard_kernel", "guarded_answer", "guarded_prompt", "guarded_stream"]
