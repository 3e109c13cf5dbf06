from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from scenario import play
from agent_safety.adapters.langchain import GuardMiddleware


class Scripted(BaseChatModel):
    script: dict

    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, **kwargs):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        last, script = messages[-1], self.script
        script["seen"]["question"] = messages[0].text
        if isinstance(last, ToolMessage):
            script["seen"]["result"] = last.text
        if script["arguments"] is not None and not isinstance(last, ToolMessage):
            call = {"name": "look_up", "args": script["arguments"], "id": "c1"}
            message = AIMessage(content="", tool_calls=[call])
        else:
            message = AIMessage(content=script["answer"])
        return ChatResult(generations=[ChatGeneration(message=message)])


def ask(seen, question, arguments, result, answer):
    @tool
    def look_up(city: str) -> str:
        """Looks something up."""
        seen["ran_with"].append(city)
        return result

    model = Scripted(script={"seen": seen, "arguments": arguments, "answer": answer})
    agent = create_agent(model, [look_up], middleware=[GuardMiddleware()])
    state = agent.invoke({"messages": [{"role": "user", "content": question}]})
    seen["answer"] = state["messages"][-1].text


play(ask)
