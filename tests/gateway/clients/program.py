"""Answers asks from standard input, side by side, until it ends; see ask.ts for what they hold."""

import json
import sys
import threading
import traceback

WRITING = threading.Lock()


class Left(Exception):
    """The client went away."""


class Seeing:
    """What an ask comes to while it goes on."""

    def __init__(self, ask):
        self.leave_after = ask["leave_after"]
        self.events = 0
        self.seen = {
            "text": None,
            "thinking": None,
            "refusal": None,
            "finish": None,
            "usage": None,
            "calls": [],
            "turns": 0,
            "pieces": 0,
            "list": None,
            "left": False,
            "error": None,
        }

    def __setitem__(self, name, value):
        self.seen[name] = value

    def __getitem__(self, name):
        return self.seen[name]

    def on_event(self):
        """Counts the events of a stream, and goes away when it is time to."""
        self.events += 1
        if self.events == self.leave_after:
            self.seen["left"] = True
            raise Left()


def result_of(ask, at):
    """What the tool gives back to the n-th call."""
    return ask["results"][at] if at < len(ask["results"]) else f"no result for call {at}"


def answer_asks(run, describe):
    """`run` asks the SDK and notes what comes of it; `describe` reads an error of the SDK, or gives None."""

    def answer(line):
        given = json.loads(line)
        seeing = Seeing(given["ask"])
        try:
            run(given["ask"], seeing)
        except Left:
            pass
        except Exception as error:  # What the SDK raised is what is asked about.
            seeing["error"] = told(describe, error)
        with WRITING:
            print(json.dumps({"id": given["id"], "seen": seeing.seen}), flush=True)

    threads = []
    for line in sys.stdin:
        thread = threading.Thread(target=answer, args=(line,), daemon=True)
        thread.start()
        threads.append(thread)
    for thread in threads:
        thread.join()


def told(describe, error):
    try:
        return describe(error) or unknown(error)
    except Exception as fault:  # Of this program: it must not keep the test waiting.
        return unknown(fault)


def unknown(error):
    message = "".join(traceback.format_exception(error))
    return {"name": type(error).__name__, "status": None, "code": None, "type": None, "message": message, "body": None}
