"""Guards agents of smolagents. Needs the package `customshouse`.

    from service_smolagents import guarded_tools, run

    agent = ToolCallingAgent(tools=guarded_tools([look_up]), model=model)
    answer = run(agent, "What is the weather?")

With `SERVICE_URL` in the environment the service there decides, else this process does. This file is yours to change.
"""

from customshouse.adapters.smolagents import guarded_tools, run

__all__ = ["guarded_tools", "run"]
