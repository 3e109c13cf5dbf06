"""Prints the tool results of AgentDojo 0.1.35 (v1.2.2) as JSON lines, for `agentdojo.ts`: those that contain an attack, and the clean ones.

No model takes part: the true calls of each user task run on an environment with the attack in the places that the task reads.
"""

import json
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


def write(attack, text):
    json.dump({"attack": attack, "text": text}, sys.stdout)
    print()


def main():
    for suite in get_suites("v1.2.2").values():
        attacks = {name: load_attack(name, suite, NamedPipeline()) for name in ATTACKS}
        for task in suite.user_tasks.values():
            clean = list_results(suite, task, {})
            for text in clean:
                write(None, text)
            for name, attack in attacks.items():
                try:
                    attack.get_injection_candidates(task)
                except ValueError:
                    continue  # The task reads no place of an injection.
                for injection_task in suite.injection_tasks.values():
                    injections = attack.attack(task, injection_task)
                    attacked = list_results(suite, task, injections)
                    # A result that the injections change contains an attack.
                    for before, after in zip(clean, attacked):
                        if before != after:
                            write(name, after)


main()
