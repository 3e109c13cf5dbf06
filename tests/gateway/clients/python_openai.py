"""The official `openai` package for Python."""

import functools
import json

import openai
from program import answer_asks, result_of

PARAMETERS = {"type": "object", "properties": {}, "additionalProperties": True}


class ToldError(Exception):
    """An error that the SDK hands on as an event of its stream, and does not raise."""

    def __init__(self, event):
        super().__init__(event.message)
        self.event = event


@functools.cache
def client_for(base_url, api_key, max_retries, timeout):
    return openai.OpenAI(base_url=base_url, api_key=api_key, max_retries=max_retries, timeout=timeout)


def run(ask, seeing):
    client = client_for(f"{ask['base_url']}/v1", ask["key"], ask["max_retries"], ask["timeout_ms"] / 1000)
    client = client.with_options(default_headers=ask["headers"])
    APIS[ask["api"]](client, ask, seeing)


def chat(client, ask, seeing):
    content = ask["text"]
    if ask["image_base64"] is not None:
        url = f"data:image/png;base64,{ask['image_base64']}"
        content = [
            {"type": "text", "text": content},
            {"type": "image_url", "image_url": {"url": url, "detail": "low"}},
        ]
    messages = [{"role": "user", "content": content}]
    if ask["instructions"] is not None:
        messages.insert(0, {"role": "system", "content": ask["instructions"]})
    tools = [{"type": "function", "function": {"name": name, "parameters": PARAMETERS}} for name in ask["tools"]]
    while True:
        body = {"model": ask["model"], "messages": messages, **({"tools": tools} if tools else {})}
        if ask["is_stream"]:
            usage = {"stream_options": {"include_usage": True}} if ask["has_usage"] else {}
            with client.chat.completions.stream(**body, **usage) as stream:
                for event in stream:
                    if event.type == "content.delta":
                        seeing["pieces"] += 1
                    if event.type == "chunk":
                        seeing.on_event()
                completion = stream.get_final_completion()
        else:
            completion = client.chat.completions.create(**body)
        seeing["turns"] += 1
        message = completion.choices[0].message
        seeing["text"] = message.content
        seeing["refusal"] = message.refusal
        seeing["finish"] = completion.choices[0].finish_reason
        usage = completion.usage
        seeing["usage"] = [usage.prompt_tokens, usage.completion_tokens] if usage else None
        messages.append(message.to_dict(mode="json"))
        for call in message.tool_calls or []:
            result = result_of(ask, len(seeing["calls"]))
            seeing["calls"].append({"tool": call.function.name, "arguments": json.loads(call.function.arguments)})
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        if not message.tool_calls or not ask["results"]:
            return


def responses(client, ask, seeing):
    content = ask["text"]
    if ask["image_base64"] is not None:
        url = f"data:image/png;base64,{ask['image_base64']}"
        content = [
            {"type": "input_text", "text": content},
            {"type": "input_image", "image_url": url, "detail": "low"},
        ]
    items = [{"role": "user", "content": content}]
    tools = [{"type": "function", "name": name, "parameters": PARAMETERS, "strict": False} for name in ask["tools"]]
    while True:
        body = {"model": ask["model"], "input": items, "tools": tools}
        if ask["instructions"] is not None:
            body["instructions"] = ask["instructions"]
        if ask["is_stream"]:
            with client.responses.stream(**body) as stream:
                for event in stream:
                    if event.type == "error":
                        raise ToldError(event)
                    if event.type == "response.output_text.delta":
                        seeing["pieces"] += 1
                    seeing.on_event()
                response = stream.get_final_response()
        else:
            response = client.responses.create(**body)
        seeing["turns"] += 1
        calls = note_response(response, ask, seeing)
        items = items + [item.to_dict(mode="json") for item in response.output] + calls
        if not calls or not ask["results"]:
            return


def note_response(response, ask, seeing):
    parts = [part for item in response.output if item.type == "message" for part in item.content]
    thoughts = [part.text for item in response.output if item.type == "reasoning" for part in item.summary]
    seeing["text"] = response.output_text or None
    seeing["refusal"] = next((part.refusal for part in parts if part.type == "refusal"), None)
    seeing["thinking"] = "".join(thoughts) or None
    seeing["finish"] = response.status
    usage = response.usage
    seeing["usage"] = [usage.input_tokens, usage.output_tokens] if usage else None
    results = []
    for call in (item for item in response.output if item.type == "function_call"):
        output = result_of(ask, len(seeing["calls"]))
        seeing["calls"].append({"tool": call.name, "arguments": json.loads(call.arguments)})
        results.append({"type": "function_call_output", "call_id": call.call_id, "output": output})
    return results


def completions(client, ask, seeing):
    body = {"model": ask["model"], "prompt": ask["text"]}
    if not ask["is_stream"]:
        completion = client.completions.create(**body)
        seeing["text"] = completion.choices[0].text
        seeing["finish"] = completion.choices[0].finish_reason
        seeing["usage"] = [completion.usage.prompt_tokens, completion.usage.completion_tokens]
    else:
        seeing["text"] = ""
        usage = {"stream_options": {"include_usage": True}} if ask["has_usage"] else {}
        for chunk in client.completions.create(**body, stream=True, **usage):
            for choice in chunk.choices:
                seeing["text"] += choice.text
                seeing["finish"] = choice.finish_reason or seeing["finish"]
                seeing["pieces"] += 1 if choice.text else 0
            if chunk.usage:
                seeing["usage"] = [chunk.usage.prompt_tokens, chunk.usage.completion_tokens]
            seeing.on_event()
    seeing["turns"] += 1


def embeddings(client, ask, seeing):
    answer = client.embeddings.create(model=ask["model"], input=[ask["text"]])
    seeing["list"] = answer.data[0].embedding
    seeing["usage"] = [answer.usage.prompt_tokens, None]


def models(client, _ask, seeing):
    seeing["list"] = [model.id for model in client.models.list().data]


def model(client, ask, seeing):
    found = client.models.retrieve(ask["model"])
    seeing["list"] = [found.id, found.object]


APIS = {
    "chat": chat,
    "responses": responses,
    "completions": completions,
    "embeddings": embeddings,
    "models": models,
    "model": model,
}


def describe(error):
    if isinstance(error, ToldError):
        told = {"name": type(error.event).__name__, "status": None, "body": error.event.to_dict(mode="json")}
        return {**told, "code": error.event.code, "type": error.event.type, "message": str(error)}
    if not isinstance(error, openai.OpenAIError):
        return None
    return {
        "name": type(error).__name__,
        "status": getattr(error, "status_code", None),
        "code": getattr(error, "code", None),
        "type": getattr(error, "type", None),
        "message": str(error),
        "body": getattr(error, "body", None),
    }


answer_asks(run, describe)
