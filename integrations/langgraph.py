"""Guards agents of LangGraph. Needs the package `customshouse`.

    from service_langgraph import nodes

    graph.add_node("check_input", nodes.check_input)           # before the model
    graph.add_node("model", nodes.model_node(call_model))      # in place of call_model
    graph.add_node("tools", nodes.tool_node(tools))            # in place of ToolNode(tools)

With `SERVICE_URL` in the environment the service there decides, else this process does. This file is yours to change.
"""

from customshouse.adapters.langgraph import GuardNodes

nodes = GuardNodes()
