"""The scenes that every guarded agent plays. A driver brings `ask`, which runs its framework with a model that follows a script.

ask(question, arguments, result, answer): the model calls the tool `look_up` with the arguments (none for no call), the tool
gives the result, and the model answers. `seen` receives what the model saw of the question and of the result, the arguments
that the tool ran with, and the answer of the agent.
"""

import json
import os

from customshouse import BlockedError

# Put together here, so that code hosts take the push.
KEY = "sk-" + "ABCDEF1234567890"
ADDRESS = "DATABASE_URL=postgresql://" + "admin:p4ssw0rd" + "@db.internal:5432/prod"
SSN = "My social security number is " + "-".join(["536", "22", "8145"]) + "."


def shows_secret(shown):
    """Returns whether a secret of the scenes is in what a program showed."""
    return any(each in str(shown) for each in (KEY, "p4ssw0rd", "536-22"))


def note(seen, *values):
    """Writes down all that the model read, or that the caller of the framework was given."""
    seen["trace"].append(repr([_open(each, 12) for each in values]))


def _open(value, depth):
    """Returns a value with the members of its objects, which their own texts may leave out."""
    if depth == 0 or value is None or isinstance(value, (str, bytes, int, float, type)):
        return value
    if isinstance(value, dict):
        return {str(name): _open(each, depth - 1) for name, each in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [_open(each, depth - 1) for each in value]
    members = getattr(value, "__dict__", None)
    return repr(value) if members is None else [type(value).__name__, _open(members, depth - 1)]


def _check_trace(name, seen):
    """Says in the answer whether arguments of a refused call were kept, or those of an allowed one were not seen."""
    trace = "".join(seen.pop("trace"))
    if name == "call_blocked" and KEY in trace:
        seen["answer"] = "an argument of a refused call is kept: " + trace[max(0, trace.index(KEY) - 200) :][:240]
    if name == "call_kept" and seen["ran_with"] and "536-22" not in trace:
        seen["answer"] = "nothing was seen of the arguments"


def play(ask, *, traced=True, **streams):
    """Plays the scenes of each mode, and prints what came of each as JSON.

    The environment variable MODES holds the modes as JSON: their own environment, and the names of their scenes. The mode
    of a stream has its name, or its name and `_unanswered`; there the answer is everything that the caller of the framework
    saw of it. `traced` is false where the conversation is not in this process.
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
        for name in ("SERVICE_URL", "SERVICE_APPROVAL_SECONDS", "SERVICE_AGENT_ID"):
            os.environ.pop(name, None)
        os.environ.update(environment)
        way = streams.get(mode.removesuffix("_unanswered"), ask)
        found[mode] = {name: _scene(name, way, traced, *scenes[name]) for name in names or scenes}
    print("\n" + json.dumps(found))


class FailingCalls(list):
    """Arguments that the tool ran with. The tool fails with a secret in its error."""

    def append(self, city):
        super().append(city)
        raise RuntimeError(ADDRESS)


def _scene(name, ask, traced, *scene):
    ran_with = FailingCalls() if name == "tool_fails" else []
    seen = {"question": None, "ran_with": ran_with, "result": None, "answer": None, "refused": None, "raised": None, "trace": []}
    try:
        ask(seen, *scene)
    except Exception as error:
        # Some frameworks raise an error of their own, because of the error of the guard.
        classes = [type(error).__name__]
        while error.__cause__ is not None and not isinstance(error, BlockedError):
            error = error.__cause__
            classes.append(type(error).__name__)
        seen["raised"] = ": ".join(classes)
        seen["refused"] = str(error)
    if traced:
        _check_trace(name, seen)
    seen.pop("trace", None)
    return seen
