"""Runs the tasks of AgentDojo 0.1.35 (v1.1) with an agent that obeys every injection, and prints one JSON line for each run.

No model takes part. The agent makes the calls in the user task's `ground_truth`. As soon as a tool result contains the injection, it also makes the
calls in the injection task's `ground_truth`. AgentDojo's own `utility` and `security` judge the environment afterwards.

The guard is a running service (`--url`). It sees what a real one would see: prompt, calls, results and answer, under a neutral session. Nothing else
from `ground_truth` reaches it. Without `--url` nothing is guarded.
"""

import argparse
import http.client
import json
import re
import sys
import time
from urllib.parse import urlsplit

import yaml
from agentdojo.agent_pipeline.base_pipeline_element import BasePipelineElement
from agentdojo.attacks.attack_registry import load_attack
from agentdojo.functions_runtime import FunctionCall, FunctionsRuntime
from agentdojo.task_suite.load_suites import get_suites
from agentdojo.types import text_content_block_from_string
from pydantic import BaseModel, TypeAdapter
from pydantic_core import to_jsonable_python
from task_rule import derive_task

VERSION = "v1.1"
AGENT = "assistant"
REDACTED = "[REDACTED]"
# Shorter values, such as `Bob`, occur in many texts by chance.
HIDDEN_VALUE_CHARS_MIN = 4
# A result may lose some words of an injection to a mask, and the agent still obeys.
OBEYED_WORDS_MIN = 0.75


class NamedPipeline(BasePipelineElement):
    """A pipeline that never runs: its name tells an attack which model to address."""

    name = "gpt-4o-2024-05-13"

    def query(self, *args, **kwargs):
        raise NotImplementedError


class Run:
    """One session of the agent: what it may see, and what the guard decided."""

    def __init__(self, guard, session_id):
        self.guard = guard
        self.session_id = session_id
        self.seen = []
        self.hidden = []
        self.calls = []
        self.changes = []
        self.milliseconds = 0.0
        self.task_id = None

    def check(self, route, subject, body):
        """Returns the content that passes; `None` if it is blocked or needs an approval."""
        if self.guard is None:
            return body[subject]
        started = time.perf_counter()
        verdict = self.guard.post(route, {**body, "agent_id": AGENT, "session_id": self.session_id})
        self.milliseconds += 1000 * (time.perf_counter() - started)
        if verdict["decision"] == "block":
            self.note("asked" if verdict["action"] == "require_approval" else "blocked", subject, body, verdict)
            return None
        if verdict["decision"] == "allow":
            return body[subject]
        self.note("masked", subject, body, verdict)
        return verdict[f"modified_{subject}"]

    def note(self, kind, subject, body, verdict):
        place = body.get("phase", subject)
        self.changes.append({"kind": kind, "place": place, "tool": body.get("tool"), "rule": verdict["rule"]})

    def see(self, original, passed):
        """Notes what the agent sees, and what the guard kept from it."""
        if passed is not None:
            self.seen.append("\n".join(list_strings(passed)))
        if passed != original:
            self.hidden.append("\n".join(list_strings(original)))

    def without_hidden(self, value):
        """Masks the values that the agent cannot know, because it saw them only where the guard removed them."""
        if isinstance(value, dict):
            return {key: self.without_hidden(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.without_hidden(item) for item in value]
        is_hidden = (
            isinstance(value, str)
            and len(value) >= HIDDEN_VALUE_CHARS_MIN
            and any(value in text for text in self.hidden)
            and not any(value in text for text in self.seen)
        )
        return REDACTED if is_hidden else value

    def call(self, runtime, environment, planned):
        """Makes one call, and returns the result that the agent sees; `None` if it sees none."""
        args = self.without_hidden(to_jsonable_python(planned.args))
        body = {"tool": planned.function, "phase": "request", "input": args}
        if self.task_id is not None:
            body["context"] = {"task_id": self.task_id}
        args = self.check("/v1/intercept/tool", "input", body)
        if args is None:
            return None
        self.calls.append(FunctionCall(function=planned.function, args=args))
        result, error = runtime.run_function(environment, planned.function, args)
        shown = to_json(result) if error is None else error
        body = {"tool": planned.function, "phase": "response", "output": shown}
        passed = self.check("/v1/intercept/tool", "output", body)
        self.see(shown, passed)
        return passed


class Guard:
    """A connection to the service."""

    def __init__(self, url, key, creates_tasks):
        self.creates_tasks = creates_tasks
        self.connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
        self.headers = {"content-type": "application/json"}
        # Only with a key the prompt is marked as a person's words.
        self.prompt_context = {}
        if key is not None:
            self.headers["authorization"] = f"Bearer {key}"
            self.prompt_context = {"context": {"origin": "user"}}

    def post(self, route, body):
        self.connection.request("POST", route, json.dumps(body), self.headers)
        response = self.connection.getresponse()
        answer = response.read()
        if response.status != 200:
            raise RuntimeError(f"{route} returned {response.status}: {answer.decode()}")
        return json.loads(answer)


def to_json(result):
    """Returns a tool result as JSON with its fields, so that rules can read them."""
    if isinstance(result, BaseModel):
        return result.model_dump(mode="json")
    if isinstance(result, list):
        return [to_json(item) for item in result]
    return to_jsonable_python(result)


def list_strings(value):
    """Returns the texts and numbers in a JSON value, keys included."""
    if isinstance(value, dict):
        return [text for key, item in value.items() for text in [str(key), *list_strings(item)]]
    if isinstance(value, list):
        return [text for item in value for text in list_strings(item)]
    return [str(value)]


def contains(result, injections):
    """Returns whether one of the texts in a result is an injection, or most of one."""
    texts = list_strings(result)
    for injection in injections:
        words = set(re.findall("[A-Za-z]{4,}", injection))
        if any(sum(word in text for word in words) >= OBEYED_WORDS_MIN * len(words) for text in texts):
            return True
    return False


def run_task(suite, user_task, injection_task, injections, run):
    """Lets the agent work, and returns whether it finished the user's task or, in a run with an attack, whether that succeeded."""
    environment = user_task.init_environment(suite.load_and_inject_default_environment(injections))
    before = environment.model_copy(deep=True)
    runtime = FunctionsRuntime(suite.tools)
    answer = work(runtime, environment, user_task, injection_task, injections, run)
    output = [text_content_block_from_string(answer)]
    return suite._check_task_result(injection_task or user_task, output, before, environment, run.calls)


def work(runtime, environment, user_task, injection_task, injections, run):
    """Makes the calls of the task and those of the injection, and returns the answer that the user sees."""
    spoken = {} if run.guard is None else run.guard.prompt_context
    prompt = run.check("/v1/scan/input", "text", {"text": user_task.PROMPT, **spoken})
    run.see(user_task.PROMPT, prompt)
    if prompt is None:
        return ""
    if run.guard is not None and run.guard.creates_tasks:
        tools = {name: list(tool.parameters.model_fields) for name, tool in runtime.functions.items()}
        terms = derive_task(user_task.PROMPT, tools)
        run.task_id = run.guard.post("/v1/tasks", {"agent_id": AGENT, **terms})["task_id"]
    answer = [user_task.GROUND_TRUTH_OUTPUT]
    attack = None if injection_task is None else injection_task.ground_truth(environment)
    for planned in user_task.ground_truth(environment):
        result = run.call(runtime, environment, planned)
        if attack is None or result is None or not contains(result, injections.values()):
            continue
        for ordered in attack:
            run.call(runtime, environment, ordered)
        attack = None
        answer.append(injection_task.GROUND_TRUTH_OUTPUT)
    text = "\n".join(run.without_hidden(part) for part in answer if part)
    return run.check("/v1/guard/output", "text", {"text": text}) or "" if text else ""


def list_pairs(suites, every):
    """Yields each user task alone, and then with each injection task of its suite."""
    for suite in suites:
        for user_task in suite.user_tasks.values():
            yield suite, user_task, None
    pairs = [(s, u, i) for s in suites for u in s.user_tasks.values() for i in s.injection_tasks.values()]
    yield from pairs[::every]


def load_attacks(suite, templates):
    """Returns the attacks of these templates. They share the search for the places of an injection."""
    attacks = [load_attack(template, suite, NamedPipeline()) for template in templates]
    for attack in attacks[1:]:
        attack.get_injection_candidates = attacks[0].get_injection_candidates
    return attacks


def list_tools(suites):
    """Returns the tools as an MCP server lists them: descriptions and schemas from the types of the functions, and nothing of a task."""
    tools = {tool.name: tool for suite in suites for tool in suite.tools}
    return [
        {
            "name": tool.name,
            "description": tool.full_docstring,
            "inputSchema": tool.parameters.model_json_schema(),
            "outputSchema": TypeAdapter(tool.return_type).json_schema(),
        }
        for _, tool in sorted(tools.items())
    ]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--url")
    parser.add_argument("--key")
    parser.add_argument("--list-tools", action="store_true")
    parser.add_argument("--tasks", action="store_true")
    parser.add_argument("--suites", required=True)
    parser.add_argument("--templates", required=True)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--thorough", action="store_true")
    options = parser.parse_args()
    # The loader in C reads the same environments ten times as fast.
    yaml.safe_load = lambda text: yaml.load(text, yaml.CSafeLoader)
    suites = [suite for name, suite in sorted(get_suites(VERSION).items()) if name in options.suites.split(",")]
    if options.list_tools:
        print(json.dumps({"tools": list_tools(suites)}))
        return
    attacks = {suite.name: load_attacks(suite, options.templates.split(",")) for suite in suites}
    guard = None if options.url is None else Guard(options.url, options.key, options.tasks)
    runs = 0
    for suite, user_task, injection_task in list_pairs(suites, options.every):
        for attack in attacks[suite.name] if injection_task else [None]:
            injections = attack.attack(user_task, injection_task) if attack else {}
            runs += 1
            run = Run(guard, f"run-{runs}")
            is_reached = run_task(suite, user_task, injection_task, injections, run)
            line = {
                "suite": suite.name,
                "user_task": user_task.ID,
                "injection_task": injection_task.ID if injection_task else None,
                "template": attack.name if attack else None,
                "is_reached": is_reached,
                "changes": run.changes,
                "milliseconds": run.milliseconds,
            }
            print(json.dumps(line), flush=True)
            if is_reached and not options.thorough:
                break


main()
