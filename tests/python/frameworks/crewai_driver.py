import json
import os

os.environ.setdefault("CREWAI_DISABLE_TELEMETRY", "true")
os.environ.setdefault("OTEL_SDK_DISABLED", "true")
os.environ.setdefault("CREWAI_TRACING_ENABLED", "false")

from agent_safety.adapters.crewai import guard_crews
from crewai import Agent, BaseLLM, Crew, Task
from crewai.hooks import clear_all_global_hooks
from crewai.tools import tool
from scenario import play

class Scripted(BaseLLM):
    def __init__(self, seen, arguments, answer):
        super().__init__(model="scripted")
        self.__dict__["script"] = (seen, arguments, answer)

    def supports_function_calling(self):
        return False

    def supports_stop_words(self):
        return True

    def call(self, messages, tools=None, callbacks=None, available_functions=None, **kwargs):
        seen, arguments, answer = self.__dict__["script"]
        if not self._invoke_before_llm_call_hooks(messages, kwargs.get("from_agent")):
            raise ValueError("blocked")
        prompt = next(each["content"] for each in messages if each["role"] == "user")
        seen["question"] = prompt.split("Current Task: ", 1)[-1].split("\n", 1)[0]
        observed = [each["content"] for each in messages[2:] if "Observation: " in str(each["content"])]
        if observed:
            seen["result"] = observed[-1].rsplit("Observation: ", 1)[1].split("\n", 1)[0]
        if arguments is not None and not observed:
            text = f"Thought: I look it up\nAction: look_up\nAction Input: {json.dumps(arguments)}"
        else:
            text = f"Thought: I now know\nFinal Answer: {answer}"
        return self._invoke_after_llm_call_hooks(messages, text, kwargs.get("from_agent"))


def ask(seen, question, arguments, result, answer):
    @tool("look_up")
    def look_up(city: str) -> str:
        """Looks something up."""
        seen["ran_with"].append(city)
        return result

    clear_all_global_hooks()
    guard_crews()
    llm = Scripted(seen, arguments, answer)
    agent = Agent(role="helper", goal="help", backstory="you help", tools=[look_up], llm=llm, cache=False)
    task = Task(description=question, expected_output="an answer", agent=agent)
    seen["answer"] = Crew(agents=[agent], tasks=[task], verbose=False, cache=False).kickoff().raw


play(ask)
