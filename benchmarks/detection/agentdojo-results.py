"""Prints the tool results of AgentDojo 0.1.35 (v1.2.2) as JSON lines, for `agentdojo.ts`: those that contain an attack, and the clean ones.

No model takes part: the true calls of each user task run on an environment with the attack in the places that the task reads. An argument N takes every Nth pair of tasks only.
"""

import json
import re
import sys

from agentdojo.agent_pipeline.base_pipeline_element import BasePipelineElement
from agentdojo.agent_pipeline.ground_truth_pipeline import GroundTruthPipeline
from agentdojo.attacks.attack_registry import load_attack
from agentdojo.functions_runtime import FunctionsRuntime
from agentdojo.task_suite.load_suites import get_suites
from agentdojo.types import get_text_content_as_str

ATTACKS = ["ignore_previous", "system_message", "injecagent", "important_instructions", "tool_knowledge"]


class NamedPipeline(BasePipelineElement):
    """A pipeline that never runs: its name tells an attack which model to address."""

    name = "gpt-4o-2024-05-13"

    def query(self, *args, **kwargs):
        raise NotImplementedError


def list_results(suite, task, injections):
    """Returns the texts of a task's tool results, in an environment with these injections."""
    environment = suite.load_and_inject_default_environment(injections)
    environment = task.init_environment(environment)
    pipeline = GroundTruthPipeline(task)
    _, _, _, messages, _ = pipeline.query(task.PROMPT, FunctionsRuntime(suite.tools), environment)
    return [get_text_content_as_str(message["content"]) for message in messages if message["role"] == "tool"]


def contains(text, injection):
    """Returns whether a result contains an injection. YAML wraps and escapes it, so its words are searched."""
    words = set(re.findall("[A-Za-z]{4,}", injection))
    return sum(word in text for word in words) >= 0.9 * len(words)


def write(attack, text):
    json.dump({"attack": attack, "text": text}, sys.stdout)
    print()


def main():
    step = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    pairs = 0
    for suite in get_suites("v1.2.2").values():
        attacks = {name: load_attack(name, suite, NamedPipeline()) for name in ATTACKS}
        for task in suite.user_tasks.values():
            for text in list_results(suite, task, {}):
                write(None, text)
            try:
                candidates = load_attack(ATTACKS[0], suite, NamedPipeline()).get_injection_candidates(task)
            except ValueError:
                continue  # The task reads no place of an injection.
            for injection_task in suite.injection_tasks.values():
                pairs += 1
                if pairs % step != 0:
                    continue
                for name, attack in attacks.items():
                    attack.get_injection_candidates = lambda _, found=candidates: found
                    injections = attack.attack(task, injection_task)
                    for text in list_results(suite, task, injections):
                        if any(contains(text, injection) for injection in injections.values()):
                            write(name, text)


main()
