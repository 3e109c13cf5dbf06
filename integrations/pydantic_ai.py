"""Guards agents of Pydantic AI. Needs the package `customshouse`.

    from service_pydantic_ai import capability

    agent = Agent(model, tools=[look_up], capabilities=[capability])

With `SERVICE_URL` in the environment the service there decides, else this process does. This file is yours to change.
"""

from customshouse.adapters.pydantic_ai import GuardCapability

capability = GuardCapability()
