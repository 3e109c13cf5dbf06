"""The client guard in front of a service that is gone, slow, or answers garbage: nothing passes."""

import asyncio
import http.server
import json
import os
import socket
import threading
import time

import pytest

from customshouse import (
    CustomshouseError,
    AIBackendNotConfiguredError,
    ApprovalRequiredError,
    BlockedError,
    ServiceRefusedError,
    create_client_guard,
)
from customshouse._client import _advisor_error, _advisor_seconds

GOOD = {
    "decision": "allow",
    "action": "allow",
    "rule": "default.allow",
    "reason": "Nothing.",
    "event_id": "evt_0123456789abcdef01234567",
    "violations": [],
    "scan_duration_ms": 1,
    "coverage": "full",
}


def answer(**changes):
    return lambda handler: handler.reply(200, json.dumps({**GOOD, **changes}))


def drip(handler):
    handler.send_response(200)
    handler.send_header("content-length", "100000")
    handler.end_headers()
    for _ in range(60):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.1)


FAULTS = {
    "garbage": lambda handler: handler.reply(200, "<html>"),
    "list": lambda handler: handler.reply(200, "[]"),
    "nothing": lambda handler: handler.reply(200, "{}"),
    "unknown_decision": answer(decision="perhaps"),
    "no_event": answer(event_id=None),
    "other_event": answer(event_id="42"),
    "partial": answer(coverage="partial"),
    "modify_without_content": answer(decision="modify"),
    "modify_with_a_number": answer(decision="modify", modified_text=3),
    "modify_of_another_kind": answer(decision="modify", modified_output="x"),
    "fault": lambda handler: handler.reply(500, json.dumps(GOOD)),
    "wrong_key": lambda handler: handler.reply(401, '{"error": "Who are you?", "code": "unauthenticated"}'),
    "bad_gateway": lambda handler: handler.reply(502, "bad gateway"),
    "elsewhere": lambda handler: handler.reply(302, json.dumps(GOOD), location="/allowed"),
    "hung_up": lambda handler: handler.connection.shutdown(socket.SHUT_RDWR),
    "half": lambda handler: handler.reply(200, json.dumps(GOOD)[:40], length=1000),
    "silent": lambda handler: time.sleep(3),
    "drip": drip,
    "deep": lambda handler: handler.reply(200, "[" * 100_000),
}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.seen.append((self.headers["x-service-key"], body))
        fault = FAULTS.get(body.get("text"))
        try:
            if fault is None:
                self.reply(200, json.dumps(GOOD))
            else:
                fault(self)
                if body["text"] not in ("fault", "wrong_key"):
                    self.close_connection = True
        except OSError:
            self.close_connection = True

    def do_GET(self):
        self.server.reads.append(self.path)
        if self.server.failures > 0:
            self.server.failures -= 1
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
            return
        self.reply(200, json.dumps({"request_id": "apr_1", "status": self.server.status, "expires_at": None}))

    def reply(self, status, text, location=None, length=None):
        data = text.encode()
        self.send_response(status)
        self.send_header("content-length", str(length or len(data)))
        if location:
            self.send_header("location", location)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.daemon_threads = True
    made.seen, made.reads, made.failures, made.status = [], [], 0, "approved"
    threading.Thread(target=made.serve_forever, daemon=True).start()
    made.url = f"http://127.0.0.1:{made.server_port}"
    yield made
    made.shutdown()


@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_blocks(server, name):
    with create_client_guard(server.url, key="k-1", timeout_seconds=1) as guard:
        assert guard.input("good").decision == "allow"
        verdict = guard.input(name)
        assert (verdict.decision, verdict.fault) == ("block", True)
        assert verdict.rule in ("sdk.unavailable", "sdk.refused")
        assert asyncio.run(guard.aio.input(name)).decision == "block"
        with pytest.raises(BlockedError):
            guard.protect.input(name)
        # A decision is never asked for twice.
        assert [body["text"] for key, body in server.seen] == ["good", name, name, name]
        assert {key for key, _ in server.seen} == {"k-1"}


def test_a_service_that_is_gone_blocks_unless_chosen_otherwise():
    gone = "http://127.0.0.1:9"
    guard = create_client_guard(gone)
    assert guard.input("x").rule == "sdk.unavailable"
    assert "127.0.0.1:9" in guard.input("x").reason
    assert asyncio.run(guard.aio.tool("t", {})).decision == "block"
    with pytest.raises(BlockedError):
        list(guard.stream(iter(["x"])))
    ran = []
    with pytest.raises(BlockedError):
        guard.run("t", {}, lambda: ran.append(1))
    assert ran == []
    chosen = create_client_guard(gone, on_unavailable="allow")
    assert (chosen.input("x").decision, chosen.input("x").fault) == ("allow", True)
    with pytest.raises(CustomshouseError):
        create_client_guard(gone, on_unavailable="ignore")
    for url in ("ftp://x", "nonsense", "http://"):
        with pytest.raises(CustomshouseError):
            create_client_guard(url)


def test_a_refusal_blocks_even_if_an_absence_would_not(server):
    guard = create_client_guard(server.url, on_unavailable="allow", timeout_seconds=1)
    verdict = guard.input("wrong_key")
    assert (verdict.decision, verdict.rule, verdict.reason) == ("block", "sdk.refused", "Who are you?")


@pytest.mark.parametrize(("status", "seconds"), [({"timeout_seconds": 200}, 430), ({}, 270), (None, 270)])
def test_an_advisor_may_take_longer_than_the_service_waits_for_its_model(status, seconds):
    assert _advisor_seconds(status) == seconds


def test_reads_are_tried_again(server):
    guard = create_client_guard(server.url)
    server.failures = 2
    assert guard._guarding.backend.find_approval("apr_1", 0).status == "approved"
    server.failures = 3
    with pytest.raises(CustomshouseError):
        guard._guarding.backend.find_approval("apr_1", 0)
    assert len(server.reads) == 6


def test_the_clock_of_the_machine_does_not_end_a_wait(server, monkeypatch):
    server.status = "pending"
    guard = create_client_guard(server.url)
    verdict = guard.input("good")
    moved = iter(range(0, 10**9, 10**7))
    monkeypatch.setattr(time, "time", lambda: next(moved))
    error = guard._guarding.block_error(verdict)
    assert not isinstance(error, ApprovalRequiredError)
    from customshouse import Approval
    from dataclasses import replace

    error = guard._guarding.block_error(replace(verdict, approval=Approval("apr_1", "pending")))
    began = time.monotonic()
    with pytest.raises(BlockedError, match="was not decided within 0.5 seconds"):
        error.wait(0.5)
    assert time.monotonic() - began >= 0.5


def test_approvals_are_waited_for(client):
    import httpx

    url = os.environ["TEST_SERVICE_URL"]
    headers = {"authorization": f"Bearer {os.environ['TEST_OPERATOR_TOKEN']}"}

    def decide(order, verb):
        while True:
            pending = httpx.get(f"{url}/v1/approvals?status=pending", headers=headers).json()["approvals"]
            found = [each for each in pending if order in each["arguments"]]
            if found:
                httpx.post(f"{url}/v1/approvals/{found[0]['request_id']}/{verb}", headers=headers, json={})
                return
            time.sleep(0.05)

    threading.Thread(target=decide, args=("yes-1", "approve"), daemon=True).start()
    assert client.protect.tool("issue_refund", {"order": "yes-1"}) == {"order": "yes-1"}
    threading.Thread(target=decide, args=("no-1", "deny"), daemon=True).start()
    with pytest.raises(BlockedError, match="is denied"):
        client.protect.tool("issue_refund", {"order": "no-1"})
    threading.Thread(target=decide, args=("yes-2", "approve"), daemon=True).start()

    async def ask():
        return await client.aio.protect.tool("issue_refund", {"order": "yes-2"})

    assert asyncio.run(ask()) == {"order": "yes-2"}
    raising = create_client_guard(url, on_approval="raise")
    with pytest.raises(ApprovalRequiredError) as caught:
        raising.protect.tool("issue_refund", {"order": "later-1"})
    threading.Thread(target=decide, args=("later-1", "approve"), daemon=True).start()
    request_id = caught.value.wait(20)
    verdict = raising.tool("issue_refund", {"order": "later-1"}, approval_request_id=request_id)
    assert verdict.decision == "allow"
    # An approval is for exactly one call.
    assert raising.tool("issue_refund", {"order": "later-2"}, approval_request_id=request_id).decision == "block"


def test_an_advisor_reads_a_folder_of_the_service_only_on_request(server):
    project = {"tools": [{"name": "send_mail", "parameters": ["to"]}]}
    with create_client_guard(server.url) as guard:
        guard.intelligence.auto_config(project)
        guard.intelligence.auto_config(path="app")
        guard.intelligence.integrate("langchain")
        guard.intelligence.integrate("langchain", project)
        asyncio.run(guard.aio.intelligence.integrate("langchain", path="app"))
        asyncio.run(guard.aio.intelligence.auto_config(project))
    assert [body for _, body in server.seen] == [
        {"project": project},
        {"path": "app"},
        {"target": "langchain"},
        {"target": "langchain", "project": project},
        {"target": "langchain", "path": "app"},
        {"project": project},
    ]


def test_an_advisor_keeps_the_error_of_the_service():
    """Only a service without a back end is reported as such."""
    missing_folder = ServiceRefusedError("There is no folder `app`.", 404, "not_found")
    assert _advisor_error(missing_folder) is missing_folder
    overloaded = ServiceRefusedError("The store is busy.", 503, "unavailable")
    assert _advisor_error(overloaded) is overloaded
    no_back_end = ServiceRefusedError("The layer is not configured.", 503, "not_configured")
    assert isinstance(_advisor_error(no_back_end), AIBackendNotConfiguredError)
