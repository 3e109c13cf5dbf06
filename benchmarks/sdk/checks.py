"""Times the check of a text, and counts what it finds, with one of three packages. Each has its own environment.

checks.py PACKAGE time CATEGORY            microseconds of a check of 1 KB of clean text: 10th, 50th, 99th percentile
checks.py PACKAGE rows CATEGORY FILE EVERY  [positive rows, found, benign rows, flagged], of every EVERY-th row of a corpus
checks.py PACKAGE call URL                  microseconds of a check of a tool call; with a URL, by the service there
checks.py PACKAGE echo URL                  microseconds of a POST with httpx to a server that only answers
checks.py PACKAGE start                     milliseconds: [asyncio, package, guard, first check], and the same of processor time
"""

import gzip
import importlib.util
import json
import logging
import os
import sys
import time
import types

SENTENCE = "The quarterly report covers the sales of the northern region and the plans for spring. "
TEXT = SENTENCE * 12
ARGUMENTS = {"to": "team", "subject": "Weekly report", "body": SENTENCE * 11, "count": 12}
# The score from which a finding of Presidio counts. By default every guess does, which triples its false positives.
SCORE_MIN = 0.4
# Types that only a language model finds. Rows that hold nothing else are left out.
UNSTRUCTURED = set(
    "PERSON ADDRESS LOCATION ORG DATE TITLE AGE NRP NATIONALITY ZIP_CODE CARD_EXPIRY DATE_OF_BIRTH FACILITY EVENT JOB "
    "RELIGION COUNTRY CITY PREFIX".split()
)
CALLS = 300
SECONDS_MAX = 8.0


def open_guard():
    from customshouse import quickstart

    guard = quickstart()
    return {
        "secrets": lambda text: guard.input(text).decision != "allow",
        "pii": lambda text: guard.output(text).decision != "allow",
    }


def open_presidio():
    """The recognisers with patterns that Presidio loads for English, without a language model."""
    from presidio_analyzer import PatternRecognizer, RecognizerRegistry

    logging.disable(logging.CRITICAL)
    registry = RecognizerRegistry()
    registry.load_predefined_recognizers(languages=["en"])
    used = [each for each in registry.recognizers if isinstance(each, PatternRecognizer)]
    print(f"{len(used)} recognisers", file=sys.stderr)

    def check(text):
        found = [result for each in used for result in each.analyze(text, each.supported_entities, None)]
        return any(result.score >= SCORE_MIN for result in found)

    return {"pii": check}


def open_llm_guard():
    """The scanner of secrets. The package's own `__init__` is left out, because it needs torch."""
    folder = os.path.dirname(importlib.util.find_spec("llm_guard").origin)
    for name, path in (("llm_guard", folder), ("llm_guard.input_scanners", f"{folder}/input_scanners")):
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = [path]
    import structlog
    from llm_guard.input_scanners.secrets import Secrets

    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    scanner = Secrets()
    return {"secrets": lambda text: not scanner.scan(text)[1]}


PACKAGES = {"customshouse": open_guard, "presidio": open_presidio, "llm-guard": open_llm_guard}


def measure(call, calls):
    for _ in range(calls // 4):
        call()
    times = []
    until = time.perf_counter() + SECONDS_MAX
    while len(times) < calls and time.perf_counter() < until:
        began = time.perf_counter()
        call()
        times.append((time.perf_counter() - began) * 1e6)
    times.sort()
    return [times[int(len(times) * share)] for share in (0.1, 0.5, 0.99)]


def measure_calls(url):
    from customshouse import create_client_guard, quickstart

    guard = create_client_guard(url) if url else quickstart()
    assert guard.tool("send", ARGUMENTS).decision == "allow"
    return measure(lambda: guard.tool("send", ARGUMENTS), 1_000 if url else 6_000)


def measure_echo(url):
    import httpx

    content = json.dumps({"tool": "send", "input": ARGUMENTS})
    with httpx.Client(trust_env=False) as client:
        return measure(lambda: client.post(url, content=content), 1_000)


def measure_start():
    moments = [(time.perf_counter(), time.process_time())]
    import asyncio  # noqa: F401  Every framework of agents imports it.

    moments.append((time.perf_counter(), time.process_time()))
    import customshouse

    moments.append((time.perf_counter(), time.process_time()))
    guard = customshouse.quickstart()
    moments.append((time.perf_counter(), time.process_time()))
    guard.tool("send", ARGUMENTS)
    moments.append((time.perf_counter(), time.process_time()))
    return [[(b[at] - a[at]) * 1e3 for a, b in zip(moments, moments[1:])] for at in (0, 1)]


def count_rows(check, category, file, every):
    counts = [0, 0, 0, 0]
    with gzip.open(file, "rt") as lines:
        for number, line in enumerate(lines):
            row = json.loads(line)
            place = place_row(row, category)
            if number % every or place is None:
                continue
            counts[place] += 1
            counts[place + 1] += check(row["text"])
    return counts


def place_row(row, category):
    """Return where a row is counted: 0 for positive rows, 2 for benign ones."""
    if row["label"] == "benign":
        return 2
    if row["label"] != {"secrets": "secret", "pii": "pii"}[category]:
        return None
    is_found = category == "secrets" or any(each["type"] not in UNSTRUCTURED for each in row["labels"])
    return 0 if is_found else None


package, mode, *rest = sys.argv[1:]
if mode == "start":
    answer = measure_start()
elif mode == "call":
    answer = measure_calls(rest[0])
elif mode == "echo":
    answer = measure_echo(rest[0])
elif mode == "time":
    check = PACKAGES[package]()[rest[0]]
    answer = measure(lambda: check(TEXT), CALLS)
else:
    check = PACKAGES[package]()[rest[0]]
    answer = count_rows(check, rest[0], rest[1], int(rest[2]))
print(json.dumps(answer))
