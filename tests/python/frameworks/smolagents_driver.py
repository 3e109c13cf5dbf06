from agent_safety.adapters.smolagents import guarded_tools, run
from scenario import play
from smolagents import ToolCallingAgent, tool
from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole, Model
from smolagents.monitoring import LogLevel


class Scripted(Model):
    def __init__(self, seen, arguments, answer):
        super().__init__(model_id="scripted")
        self.seen, self.arguments, self.answer = seen, arguments, answer

    def generate(self, messages, **options):
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
            function = ChatMessageToolCallFunction(name="look_up", arguments=self.arguments)
        else:
            function = ChatMessageToolCallFunction(name="final_answer", arguments={"answer": self.answer})
        calls = [ChatMessageToolCall(id="c1", type="function", function=function)]
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
    seen["answer"] = run(agent, question)


play(ask)
