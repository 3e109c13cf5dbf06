"""Guards agents of OpenAI Agents SDK. Needs the package `customshouse`.

    from service_openai_agents import run, run_streamed

    result = await run(agent, "What is the weather?")
    result = await run_streamed(agent, "What is the weather?")

With `SERVICE_URL` in the environment the service there decides, else this process does. This file is yours to change.
"""

from customshouse.adapters.openai_agents import run, run_streamed

__all__ = ["run", "run_streamed"]
