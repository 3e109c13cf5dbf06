"""A local guard that reports its decisions to a real service: none is lost, and none counts twice."""

import asyncio
import http.server
import json
import os
import signal
import subprocess
import sys
import time
import threading
import urllib.request
import uuid

import pytest

from customshouse import CustomshouseError, ReportOptions, create_local_guard

from .conftest import KEY

GONE = "http://127.0.0.1:9"
PROGRAM = """
import json, os, signal, sys
from customshouse import ReportOptions, create_local_guard
given = json.loads(sys.argv[1])
guard = create_local_guard(report=ReportOptions(**given["report"]), session_id=given["session"])
print(json.dumps([guard.tool("look_up", {"n": n}).event_id for n in range(given["checks"])]), flush=True)
if given["ending"] == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
if given["ending"] == "exit":
    os._exit(0)
"""


def find_events(session):
    body = json.dumps({"session_id": session, "limit": 1000}).encode()
    request = urllib.request.Request(
        os.environ["TEST_SERVICE_URL"] + "/v1/audit/query", body, {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read())["events"]


def options(folder, **changes):
    given = {"url": os.environ["TEST_SERVICE_URL"], "flush_timeout_seconds": 20, "interval_seconds": 0.05}
    return ReportOptions(**{**given, "spool_folder": folder, **changes})


def until(holds, seconds=20):
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)
    return holds()


@pytest.fixture
def session():
    return str(uuid.uuid4())


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "spool"


def test_decisions_reach_the_audit_log_of_a_service(folder, session):
    with create_local_guard(report=options(folder), agent_id="helper", session_id=session) as guard:
        assert guard.journal_path is None
        verdicts = [
            guard.input(f"Use key {KEY}"),
            guard.output("Mail jane.doe@corp-mail.io now."),
            asyncio.run(guard.aio.tool("look_up", {"city": "Rome"})),
        ]
        assert folder.stat().st_mode & 0o777 == 0o700
        assert guard.flush()
        assert guard.report_status.recorded == 3
    events = find_events(session)
    assert sorted((each["event_id"], each["decision"]) for each in events) == sorted(
        (each.event_id, each.decision) for each in verdicts
    )
    assert {each["metadata"]["reported_by"] for each in events} == {"sdk"}
    assert KEY not in json.dumps(events)
    assert list(folder.iterdir()) == []


class Unreliable(http.server.BaseHTTPRequestHandler):
    """Passes requests on, but hangs up on the first ones: before they are sent on, or with the answer."""

    faults = []

    def do_POST(self):
        content = self.rfile.read(int(self.headers["content-length"]))
        fault = self.faults.pop(0) if self.faults else None
        if fault == "before":
            self.close_connection = True
            return
        request = urllib.request.Request(
            os.environ["TEST_SERVICE_URL"] + self.path, content, {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request) as answer:
            text = answer.read()
        if fault == "after":
            self.close_connection = True
            return
        self.send_response(200)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def test_a_batch_whose_answer_is_lost_is_sent_again_and_counts_once(folder, session):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Unreliable)
    Unreliable.faults = ["before", "after", "after"]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    with create_local_guard(report=options(folder, url=url), session_id=session) as guard:
        for number in range(300):
            guard.tool("look_up", {"number": number})
        assert guard.flush()
        assert guard.report_status.recorded == 300
    server.shutdown()
    assert len(find_events(session)) == 300


def test_a_decision_that_the_service_cannot_take_does_not_hold_up_the_others(folder, session):
    with create_local_guard(report=options(folder), session_id=session) as guard:
        refused = guard.tool(f"t {KEY}", {})
        for number in range(10):
            guard.tool("look_up", {"number": number})
        assert guard.flush()
        assert (guard.report_status.recorded, guard.report_status.refused) == (10, 1)
    assert len(find_events(session)) == 10
    assert refused.event_id in (folder / "refused.jsonl").read_text()


@pytest.mark.parametrize("key", ["wrong-key", None])
def test_decisions_wait_for_a_key_and_for_a_service(folder, session, key):
    url = os.environ["TEST_SERVICE_URL"] if key else GONE
    report = {"url": url, "key": key, "spool_folder": str(folder), "flush_timeout_seconds": 0.5}
    ids = run_program(report, session, "return")
    assert find_events(session) == [] and len(list(folder.iterdir())) == 1
    right = {**report, "url": os.environ["TEST_SERVICE_URL"], "key": None, "flush_timeout_seconds": 20}
    run_program(right, session, "return", 1)
    assert set(ids) < {each["event_id"] for each in find_events(session)}
    assert list(folder.iterdir()) == []


def test_a_full_spool_blocks_or_drops_where_that_was_chosen(tmp_path):
    given = {"url": GONE, "spool_bytes_max": 3000, "flush_timeout_seconds": 0.01}
    strict = create_local_guard(report=options(tmp_path / "strict", **given))
    loose = create_local_guard(report=options(tmp_path / "loose", on_spool_full="drop", **given))
    blocked = [each for each in (strict.tool("t", {}) for _ in range(10)) if each.decision == "block"]
    assert 2 < len(blocked) < 10
    assert blocked[0].rule == "fault.audit" and "The spool has 3000 bytes" in blocked[0].reason
    assert all(loose.tool("t", {}).decision == "allow" for _ in range(10))
    assert loose.report_status.dropped == len(blocked)
    assert strict.flush() is False
    # The background thread makes its first attempt in its own time.
    assert until(lambda: strict.report_status.last_error)
    strict.close()
    loose.close()


def test_options_that_cannot_be_used_are_refused(tmp_path):
    open_folder = tmp_path / "open"
    open_folder.mkdir()
    open_folder.chmod(0o777)
    (tmp_path / "file").write_text("")
    for wrong in (
        options(open_folder),
        options(tmp_path / "file" / "below"),
        options(tmp_path / "x", on_spool_full="ignore"),
        options(tmp_path / "x", url="nonsense"),
    ):
        with pytest.raises(CustomshouseError):
            create_local_guard(report=wrong)


def run_program(report, session, ending, checks=5):
    given = {"report": report, "session": session, "ending": ending, "checks": checks}
    ran = subprocess.run([sys.executable, "-c", PROGRAM, json.dumps(given)], stdout=subprocess.PIPE, timeout=120)
    assert ran.returncode == (-signal.SIGKILL if ending == "kill" else 0)
    return json.loads(ran.stdout)


def test_the_end_of_a_program_sends_what_waits(folder, session):
    report = {"url": os.environ["TEST_SERVICE_URL"], "spool_folder": str(folder), "interval_seconds": 60}
    ids = run_program(report, session, "return")
    assert {each["event_id"] for each in find_events(session)} == set(ids)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("ending", ["kill", "exit"])
def test_a_program_that_was_killed_between_a_decision_and_its_report_loses_none(folder, session, ending):
    report = {"url": os.environ["TEST_SERVICE_URL"], "spool_folder": str(folder), "interval_seconds": 60}
    ids = run_program(report, session, ending)
    assert find_events(session) == [] and len(list(folder.iterdir())) == 1
    run_program(report, session, "return", 1)
    found = {each["event_id"] for each in find_events(session)}
    assert len(ids) == 5 and set(ids) < found and len(found) == 6
    assert list(folder.iterdir()) == []
