"""An agent of CrewAI whose model calls a tool with a secret. The model is scripted, so no network is needed."""

from customshouse.adapters.crewai import guard_crews
from crewai import Agent, Crew, Task
from crewai.tools import tool
from scripted_model import model

sent = []


@tool("send")
def send(key: str) -> str:
    """Sends a key."""
    sent.append(key)
    return "sent"


guard_crews()
agent = Agent(role="helper", goal="help", backstory="You help.", tools=[send], llm=model)
task = Task(description="Send the key.", expected_output="an answer", agent=agent)
answer = Crew(agents=[agent], tasks=[task]).kickoff().raw

assert sent == [], "the tool ran"
assert answer == "I could not, write to [REDACTED]."
print(f"The call was blocked, so the tool ran {len(sent)} times. The answer: {answer}")
