"""Guards agents of Google ADK. Install the package first: `pip install agent-safety`.

    from service_google_adk import plugin

    runner = InMemoryRunner(agent=agent, plugins=[plugin])

With `SERVICE_URL` in the environment the service there decides, else this process does. This file is yours to change.
"""

from agent_safety.adapters.google_adk import GuardPlugin

plugin = GuardPlugin()
