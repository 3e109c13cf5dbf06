import asyncio
import json

from agents import Agent, Model, ModelResponse, Usage, function_tool, set_tracing_disabled
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from scenario import play
from agent_safety.adapters.openai_agents import run

set_tracing_disabled(True)


class Scripted(Model):
    def __init__(self, seen, arguments, answer):
        self.seen, self.arguments, self.answer = seen, arguments, answer

    async def get_response(self, system_instructions, input, *args, **kwargs):
        items = [{"role": "user", "content": input}] if isinstance(input, str) else input
        self.seen["question"] = items[0]["content"]
        results = [each for each in items if each.get("type") == "function_call_output"]
        if results:
            self.seen["result"] = results[-1]["output"]
        if self.arguments is not None and not results:
            call = {"call_id": "c1", "name": "look_up", "arguments": json.dumps(self.arguments), "type": "function_call"}
            output = [ResponseFunctionToolCall(**call)]
        else:
            text = ResponseOutputText(text=self.answer, type="output_text", annotations=[])
            output = [ResponseOutputMessage(id="m1", content=[text], role="assistant", status="completed", type="message")]
        return ModelResponse(output=output, usage=Usage(), response_id=None)

    def stream_response(self, *args, **kwargs):
        raise NotImplementedError


def ask(seen, question, arguments, result, answer):
    @function_tool
    def look_up(city: str) -> str:
        """Looks something up."""
        seen["ran_with"].append(city)
        return result

    agent = Agent(name="helper", model=Scripted(seen, arguments, answer), tools=[look_up])
    seen["answer"] = asyncio.run(run(agent, question)).final_output


play(ask)
