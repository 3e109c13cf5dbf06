import asyncio
import re

from customshouse.adapters.google_adk import GuardPlugin
from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types
from scenario import note, play, shows_secret


class Scripted(BaseLlm):
    script: dict

    async def generate_content_async(self, llm_request, stream=False):
        seen, arguments = self.script["seen"], self.script["arguments"]
        note(seen, llm_request.contents)
        parts = [part for each in llm_request.contents for part in each.parts]
        seen["question"] = next(part.text for part in parts if part.text)
        results = [part.function_response for part in parts if part.function_response]
        if results:
            seen["result"] = next(iter(results[-1].response.values()))
        if arguments is not None and not results:
            part = types.Part(function_call=types.FunctionCall(name="look_up", args=arguments))
        else:
            part = types.Part(text=self.script["answer"])
        for piece in self._pieces(part) if stream else []:
            yield LlmResponse(content=types.Content(role="model", parts=[piece]), partial=True)
        yield LlmResponse(content=types.Content(role="model", parts=[part]))

    def _pieces(self, part):
        if part.function_call:
            return [part]
        words = re.findall(r" ?[^ ]+", part.text)
        return [types.Part(text=each, thought=thought) for thought in (True, None) for each in words]


def ask(seen, question, *script):
    seen["answer"] = asyncio.run(collect(seen, question, build(seen, *script), RunConfig()))[-1].text


def ask_stream(seen, question, *script):
    """Reads the pieces of the model and what follows them. A secret in any piece is what the caller saw."""
    parts = asyncio.run(collect(seen, question, build(seen, *script), RunConfig(streaming_mode=StreamingMode.SSE)))
    seen["answer"] = parts[-1].text


def build(seen, arguments, result, answer):
    def look_up(city: str) -> str:
        """Looks something up."""
        seen["ran_with"].append(city)
        return result

    model = Scripted(model="scripted", script={"seen": seen, "arguments": arguments, "answer": answer})
    return LlmAgent(name="helper", model=model, tools=[look_up])


async def collect(seen, question, agent, config):
    """Returns the parts with text. No secret may be in a piece of an answer."""
    runner = InMemoryRunner(agent=agent, app_name="shop", plugins=[GuardPlugin()])
    session = await runner.session_service.create_session(app_name="shop", user_id="u1")
    content = types.Content(role="user", parts=[types.Part(text=question)])
    parts = []
    async for event in runner.run_async(user_id="u1", session_id=session.id, new_message=content, run_config=config):
        note(seen, event)
        found = event.content.parts or [] if event.content else []
        parts += [part for part in found if part.text]
        if event.partial and (shows_secret(event) or any(part.function_call for part in found)):
            parts.append(types.Part(text="a secret or a call in a piece"))
            break
    return parts


play(ask, stream=ask_stream)
