"""Guards agents of LlamaIndex. Needs the package `customshouse`.

    from service_llamaindex import guarded_tools, run

    agent = FunctionAgent(tools=guarded_tools([look_up, pay]), llm=llm)
    answer = await run(agent, "What is the weather?")

With `SERVICE_URL` in the environment the service there decides, else this process does. This file is yours to change.
"""

from customshouse.adapters.llamaindex import guarded_tools, run

__all__ = ["guarded_tools", "run"]
