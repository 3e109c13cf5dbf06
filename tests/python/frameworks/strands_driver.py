from agent_safety.adapters.strands import GuardHooks
from scenario import play
from strands import Agent, tool
from strands.models import Model


class Scripted(Model):
    def __init__(self, seen, arguments, answer):
        self.seen, self.arguments, self.answer = seen, arguments, answer

    def update_config(self, **_):
        pass

    def get_config(self):
        return {}

    async def structured_output(self, *args, **kwargs):
        raise NotImplementedError
        yield

    async def stream(self, messages, *args, **kwargs):
        import json

        self.seen["question"] = messages[0]["content"][0]["text"]
        results = [part["toolResult"] for each in messages for part in each["content"] if "toolResult" in part]
        if results:
            self.seen["result"] = results[-1]["content"][0]["text"]
        yield {"messageStart": {"role": "assistant"}}
        if self.arguments is not None and not results:
            yield {"contentBlockStart": {"start": {"toolUse": {"name": "look_up", "toolUseId": "c1"}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(self.arguments)}}}}
            reason = "tool_use"
        else:
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": self.answer}}}
            reason = "end_turn"
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": reason}}


def ask(seen, question, arguments, result, answer):
    @tool
    def look_up(city: str) -> str:
        """Looks something up."""
        seen["ran_with"].append(city)
        return result

    model = Scripted(seen, arguments, answer)
    agent = Agent(model=model, tools=[look_up], hooks=[GuardHooks()], callback_handler=None)
    seen["answer"] = str(agent(question)).strip()


play(ask)
