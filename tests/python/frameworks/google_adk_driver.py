import asyncio

from agent_safety.adapters.google_adk import GuardPlugin
from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types
from scenario import play


class Scripted(BaseLlm):
    script: dict

    async def generate_content_async(self, llm_request, stream=False):
        seen, arguments = self.script["seen"], self.script["arguments"]
        parts = [part for each in llm_request.contents for part in each.parts]
        seen["question"] = next(part.text for part in parts if part.text)
        results = [part.function_response for part in parts if part.function_response]
        if results:
            seen["result"] = next(iter(results[-1].response.values()))
        if arguments is not None and not results:
            part = types.Part(function_call=types.FunctionCall(name="look_up", args=arguments))
        else:
            part = types.Part(text=self.script["answer"])
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def ask(seen, question, arguments, result, answer):
    def look_up(city: str) -> str:
        """Looks something up."""
        seen["ran_with"].append(city)
        return result

    model = Scripted(model="scripted", script={"seen": seen, "arguments": arguments, "answer": answer})
    agent = LlmAgent(name="helper", model=model, tools=[look_up])

    async def main():
        runner = InMemoryRunner(agent=agent, app_name="shop", plugins=[GuardPlugin()])
        session = await runner.session_service.create_session(app_name="shop", user_id="u1")
        content = types.Content(role="user", parts=[types.Part(text=question)])
        texts = []
        async for event in runner.run_async(user_id="u1", session_id=session.id, new_message=content):
            texts += [part.text for part in (event.content.parts if event.content else []) if part.text]
        return texts[-1]

    seen["answer"] = asyncio.run(main())


play(ask)
