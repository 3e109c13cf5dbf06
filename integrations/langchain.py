"""Guards agents of LangChain. Needs the package `customshouse`.

    from langchain.agents import create_agent
    from service_langchain import middleware

    agent = create_agent(model, tools, middleware=[middleware])

With `SERVICE_URL` in the environment the service there decides, else this process does. This file is yours to change.
"""

from customshouse.adapters.langchain import GuardMiddleware

middleware = GuardMiddleware()
