"""The scenes that every guarded agent plays. A driver brings `ask`, which runs its framework with a model that follows a script.

ask(question, arguments, result, answer): the model calls the tool `look_up` with the arguments (none for no call), the tool
gives the result, and the model answers. `seen` receives what the model saw of the question and of the result, the arguments
that the tool ran with, and the answer of the agent.
"""

import json
import os

from agent_safety import BlockedError

# Put together here, so that code hosts take the push.
KEY = "sk-" + "ABCDEF1234567890"
ADDRESS = "DATABASE_URL=postgresql://" + "admin:p4ssw0rd" + "@db.internal:5432/prod"
SSN = "My social security number is " + "-".join(["536", "22", "8145"]) + "."


def shows_secret(shown):
    """Returns whether a secret of the scenes is in what a program showed."""
    return any(each in str(shown) for each in (KEY, "p4ssw0rd", "536-22"))


def shows_refused(question, shown):
    """Returns whether the key of a refused call is in what a program showed, or in what the model read."""
    return KEY not in question and KEY in str(shown)


def play(ask, **streams):
    """Plays the scenes of each mode, and prints what came of each as JSON.

    The environment variable MODES holds the modes as JSON: their own environment, and the names of their scenes. The mode
    of a stream has its name, or its name and `_unanswered`; there the answer is everything that the caller of the framework
    saw of it.
    """
    scenes = {
        "clean": ("What is the weather?", {"city": "Rome"}, "Sunny.", "It is sunny."),
        "input_blocked": (f"Use key {KEY}", None, None, "Done."),
        "input_masked": (SSN, None, None, "Noted."),
        "call_blocked": ("Look it up.", {"city": KEY}, "Sunny.", "I could not."),
        # What an answer may not show is no reason to change a call.
        "call_kept": ("Look it up.", {"city": SSN}, "Sunny.", "It is sunny."),
        "result_masked": ("Look it up.", {"city": "Rome"}, ADDRESS, "There it is."),
        "output_masked": ("What is the setting?", None, None, f"It is {ADDRESS}"),
        "tool_fails": ("Look it up.", {"city": "Rome"}, None, "There it is."),
    }
    found = {}
    for mode, (environment, names) in json.loads(os.environ["MODES"]).items():
        for name in ("SERVICE_URL", "SERVICE_APPROVAL_SECONDS"):
            os.environ.pop(name, None)
        os.environ.update(environment)
        found[mode] = {name: _scene(name, streams.get(mode.removesuffix("_unanswered"), ask), *scenes[name]) for name in names or scenes}
    print("\n" + json.dumps(found))


class FailingCalls(list):
    """Arguments that the tool ran with. The tool fails with a secret in its error."""

    def append(self, city):
        super().append(city)
        raise RuntimeError(ADDRESS)


def _scene(name, ask, *scene):
    ran_with = FailingCalls() if name == "tool_fails" else []
    seen = {"question": None, "ran_with": ran_with, "result": None, "answer": None, "refused": None}
    try:
        ask(seen, *scene)
    except Exception as error:
        # Some frameworks raise an error of their own, because of the error of the guard.
        while error.__cause__ is not None and not isinstance(error, BlockedError):
            error = error.__cause__
        seen["refused"] = str(error)
    return seen
