"""Guards agents of Strands. Needs the package `customshouse`.

    from service_strands import hooks

    agent = Agent(model=model, tools=[look_up], hooks=[hooks])

With `SERVICE_URL` in the environment the service there decides, else this process does. This file is yours to change.
"""

from customshouse.adapters.strands import GuardHooks

hooks = GuardHooks()
