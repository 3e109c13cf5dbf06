"""Runs the cases of one group on both Python guards. Reads JSON from standard input, and prints the verdicts."""

import dataclasses
import json
import sys

from customshouse import create_client_guard, create_local_guard

NAMES = {
    "scan_input": "modified_text",
    "scan_structured": "modified_payload",
    "guard_output": "modified_text",
    "intercept_agent_message": "modified_message",
}


def expand(value):
    """Builds the nests of lists that JSON readers refuse."""
    if isinstance(value, list):
        return [expand(each) for each in value]
    if not isinstance(value, dict):
        return value
    if "nest_of_lists" not in value:
        return {key: expand(each) for key, each in value.items()}
    nest = "deep"
    for _ in range(value["nest_of_lists"]):
        nest = [nest]
    return nest


def ask(guard, operation, body):
    body = dict(body)
    context = dict(body.pop("context", None) or {})
    tool = context.pop("tool", None)
    subject = {**context}
    for name in ("agent_id", "session_id", "tenant_id", "data_tags", "source_agent_id", "destination_agent_id"):
        if name in body:
            subject[name] = body.pop(name)
    if operation == "scan_input":
        return guard.input(body["text"], tool=tool, **subject)
    if operation == "guard_output":
        return guard.output(body["text"], tool=tool, **subject)
    if operation == "scan_structured":
        return guard.structured(body["payload"], tool=tool, **subject)
    if operation == "intercept_agent_message":
        sender, receiver = subject.pop("source_agent_id"), subject.pop("destination_agent_id")
        return guard.message(body["message"], sender=sender, receiver=receiver, **subject)
    if body.get("phase") == "response":
        return guard.tool_result(body["tool"], body["output"], **subject)
    return guard.tool(body["tool"], body.get("input"), **subject)


def shown(verdict, operation, body):
    """The verdict as over HTTP, without what differs from one decision to the next."""
    fields = dataclasses.asdict(verdict)
    for name in ("event_id", "approval", "changed"):
        fields.pop(name)
    violations = [{k: v for k, v in each.items() if v not in (None, False, ())} for each in fields["violations"]]
    found = {**fields, "violations": violations}
    for name in ("fault", "fallback_used", "stripped_fields", "marks"):
        if not found[name]:
            del found[name]
    if verdict.decision == "modify" or verdict.fallback_used:
        is_result = body.get("phase") == "response"
        name = NAMES.get(operation) or ("modified_output" if is_result else "modified_input")
        found[name] = verdict.changed
    return found


given = json.load(sys.stdin)
subject = {"agent_id": "unknown", "session_id": None}
client = create_client_guard(given["url"], **subject) if given["url"] else None
local = create_local_guard(policy=given["policy"], audit_path=given["journal"], service=client, **subject)
guards = [guard for guard in (local, client) if guard]
answers = []
for request in given["requests"]:
    operation, body = request["operation"], expand(request["body"])
    answers.append([json.dumps(shown(ask(guard, operation, body), operation, body)) for guard in guards])
print(json.dumps(answers))
