"""The official `anthropic` package for Python."""

import functools

import anthropic
from program import answer_asks, result_of


@functools.cache
def client_for(base_url, api_key, max_retries, timeout):
    return anthropic.Anthropic(base_url=base_url, api_key=api_key, max_retries=max_retries, timeout=timeout)


def run(ask, seeing):
    client = client_for(ask["base_url"], ask["key"], ask["max_retries"], ask["timeout_ms"] / 1000)
    client = client.with_options(default_headers=ask["headers"])
    if ask["api"] == "count_tokens":
        messages = [{"role": "user", "content": ask["text"]}]
        seeing["list"] = [client.messages.count_tokens(model=ask["model"], messages=messages).input_tokens]
    elif ask["api"] == "models":
        seeing["list"] = [model.id for model in client.models.list().data]
    elif ask["api"] == "model":
        found = client.models.retrieve(ask["model"])
        seeing["list"] = [found.id, found.type]
    else:
        converse(client.beta.messages if ask["api"] == "beta" else client.messages, ask, seeing)


def converse(resource, ask, seeing):
    content = ask["text"]
    if ask["image_base64"] is not None:
        source = {"type": "base64", "media_type": "image/png", "data": ask["image_base64"]}
        content = [{"type": "image", "source": source}, {"type": "text", "text": content}]
    messages = [{"role": "user", "content": content}]
    body = {"model": ask["model"], "max_tokens": 1024}
    if ask["instructions"] is not None:
        body["system"] = ask["instructions"]
    if ask["tools"]:
        schema = {"type": "object", "properties": {}, "additionalProperties": True}
        body["tools"] = [{"name": name, "input_schema": schema} for name in ask["tools"]]
    while True:
        if ask["is_stream"]:
            with resource.stream(**body, messages=messages) as stream:
                for event in stream:
                    if event.type == "text":
                        seeing["pieces"] += 1
                    else:
                        seeing.on_event()
                message = stream.get_final_message()
        else:
            message = resource.create(**body, messages=messages)
        seeing["turns"] += 1
        results = note_message(message, ask, seeing)
        messages = messages + [{"role": "assistant", "content": message.content}, {"role": "user", "content": results}]
        if not results or not ask["results"]:
            return


def note_message(message, ask, seeing):
    texts = [block.text for block in message.content if block.type == "text"]
    thoughts = [block.thinking for block in message.content if block.type == "thinking"]
    seeing["text"] = "".join(texts) if texts else None
    seeing["thinking"] = "".join(thoughts) if thoughts else None
    seeing["finish"] = message.stop_reason
    seeing["usage"] = [message.usage.input_tokens, message.usage.output_tokens]
    results = []
    for call in (block for block in message.content if block.type == "tool_use"):
        result = result_of(ask, len(seeing["calls"]))
        seeing["calls"].append({"tool": call.name, "arguments": call.input})
        results.append({"type": "tool_result", "tool_use_id": call.id, "content": result})
    return results


def describe(error):
    if not isinstance(error, anthropic.AnthropicError):
        return None
    body = getattr(error, "body", None)
    inner = body.get("error") if isinstance(body, dict) else None
    inner = inner if isinstance(inner, dict) else {}
    details = inner.get("details") or {}
    return {
        "name": type(error).__name__,
        "status": getattr(error, "status_code", None),
        "code": details.get("error_code"),
        "type": inner.get("type"),
        "message": str(error),
        "body": body,
    }


answer_asks(run, describe)
