"""Guards agents of Google ADK. Needs the package `customshouse`.

    from service_google_adk import plugin

    runner = InMemoryRunner(agent=agent, plugins=[plugin])

With `SERVICE_URL` in the environment the service there decides, else this process does. This file is yours to change.
"""

from customshouse.adapters.google_adk import GuardPlugin

plugin = GuardPlugin()
