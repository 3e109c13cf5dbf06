"""Guards agents of CrewAI. Needs the package `customshouse`.

    import service_crewai  # once, before a Crew is made

With `SERVICE_URL` in the environment the service there decides, else this process does. This file is yours to change.
"""

from customshouse.adapters.crewai import guard_crews

guard = guard_crews()
