"""Guards agents of AutoGen. Needs the package `customshouse`.

    from service_autogen import guarded_model, guarded_tools

    agent = AssistantAgent("helper", model_client=guarded_model(client), tools=guarded_tools([look_up, pay]))

With `SERVICE_URL` in the environment the service there decides, else this process does. This file is yours to change.
"""

from customshouse.adapters.autogen import guarded_model, guarded_tools

__all__ = ["guarded_model", "guarded_tools"]
