from customshouse.adapters.smolagents import guarded_tools, run
from scenario import KEY, note, play
from smolagents import ToolCallingAgent, tool
from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole, Model
from smolagents.monitoring import LogLevel


def call_of(name, arguments, call_id="c1"):
    function = ChatMessageToolCallFunction(name=name, arguments=arguments)
    return ChatMessageToolCall(id=call_id, type="function", function=function)


class Scripted(Model):
    def __init__(self, seen, arguments, answer):
        super().__init__(model_id="scripted")
        self.seen, self.arguments, self.answer = seen, arguments, answer

    def generate(self, messages, **options):
        note(self.seen, messages)
        texts = [part["text"] for each in messages for part in each.content if part["type"] == "text"]
        task = next(each for each in texts if each.startswith("New task:"))
        self.seen["question"] = task.removeprefix("New task:\n")
        marks = ("Observation:\n", "Error:\n")
        results = [each for each in texts if each.startswith(marks)]
        if results:
            found = results[-1].split("\n", 1)[1].strip()
            at = found.find("BlockedError: ")
            self.seen["result"] = found if at < 0 else found[at:].removeprefix("BlockedError: ").split("\n")[0]
        if self.arguments is not None and not results:
            # A list holds the arguments for parallel calls.
            given = self.arguments if isinstance(self.arguments, list) else [self.arguments]
            calls = [call_of("look_up", each, f"c{place}") for place, each in enumerate(given)]
        else:
            calls = [call_of("final_answer", {"answer": self.answer})]
        return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=calls)


def ask(seen, question, arguments, result, answer):
    @tool
    def look_up(city: str) -> str:
        """Looks something up.

        Args:
            city: The city.
        """
        seen["ran_with"].append(city)
        return result

    model = Scripted(seen, arguments, answer)
    agent = ToolCallingAgent(tools=guarded_tools([look_up]), model=model, verbosity_level=LogLevel.OFF)
    try:
        seen["answer"] = run(agent, question)
    finally:
        note(seen, agent.memory.steps)


def check_parallel():
    """One refused call leaves the others of its step alone."""
    seen = {"ran_with": [], "trace": []}
    ask(seen, "Look it up.", [{"city": "Rome"}, {"city": KEY}, {"city": "Oslo"}], "Sunny.", "It is sunny.")
    assert sorted(seen["ran_with"]) == ["Oslo", "Rome"], seen
    trace = "".join(seen["trace"])
    assert seen["answer"] == "It is sunny." and KEY not in trace and trace.count("Sunny.") >= 2, seen


check_parallel()
play(ask)
