import asyncio

from agent_safety.adapters.pydantic_ai import GuardCapability
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import FunctionModel
from scenario import play


def ask(seen, question, arguments, result, answer):
    def look_up(city: str) -> str:
        """Looks something up."""
        seen["ran_with"].append(city)
        return result

    def model(messages, info):
        parts = [part for message in messages for part in message.parts]
        seen["question"] = next(part.content for part in parts if isinstance(part, UserPromptPart))
        results = [part for part in parts if isinstance(part, ToolReturnPart)]
        if results:
            seen["result"] = results[-1].content
        if arguments is not None and not results:
            return ModelResponse(parts=[ToolCallPart("look_up", arguments)])
        return ModelResponse(parts=[TextPart(answer)])

    agent = Agent(FunctionModel(model), tools=[look_up], capabilities=[GuardCapability()])
    seen["answer"] = asyncio.run(agent.run(question)).output


play(ask)
