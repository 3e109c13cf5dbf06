"""What every guarded agent is put through. A driver brings `ask`, which runs its framework with a model that follows a script.

ask(question, arguments, result, answer): the model calls the tool `look_up` with the arguments (none for no call), the tool
gives the result, and the model answers. Gives what the model saw of the question and of the result, with what the tool ran,
and what the agent answered.
"""

import json

# Put together here, so that code hosts take the push.
KEY = "sk-" + "ABCDEF1234567890"
ADDRESS = "DATABASE_URL=postgresql://" + "admin:p4ssw0rd" + "@db.internal:5432/prod"
SSN = "My social security number is " + "-".join(["536", "22", "8145"]) + "."


def play(ask):
    """Runs all scenes and prints what came of each as JSON."""
    scenes = {
        "clean": ("What is the weather?", {"city": "Rome"}, "Sunny.", "It is sunny."),
        "input_blocked": (f"Use key {KEY}", None, None, "Done."),
        "input_masked": (SSN, None, None, "Noted."),
        "call_blocked": ("Look it up.", {"city": KEY}, "Sunny.", "I could not."),
        "result_masked": ("Look it up.", {"city": "Rome"}, ADDRESS, "There it is."),
        "output_masked": ("What is the setting?", None, None, f"It is {ADDRESS}"),
    }
    print(json.dumps({name: _scene(ask, *scene) for name, scene in scenes.items()}))


def _scene(ask, *scene):
    seen = {"question": None, "ran_with": [], "result": None, "answer": None, "refused": None}
    try:
        ask(seen, *scene)
    except Exception as error:
        seen["refused"] = str(error)
    return seen
