"""Sends the decisions of a local guard to the audit log of a service, in batches and in the background."""

from __future__ import annotations

import atexit
import hashlib
import json
import logging
import os
import random
import threading
import time
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ._names import PACKAGE_NAME, SHOWN
from ._spool import Spool, SpooledLine, SpoolFullError
from .errors import CustomshouseError, ServiceRefusedError, ServiceUnavailableError

# The limits of one batch. The service takes twice as many bytes.
BATCH_LINES_MAX = 256
BATCH_BYTES_MAX = 524_288
# The pause after the first failure; it doubles up to the longest one.
PAUSE_SECONDS = 0.5
PAUSE_SECONDS_MAX = 30.0
# The pause between two searches for decisions that other processes left.
IDLE_SECONDS = 30.0
PATH = "/v1/audit/import"
# Members that the service sets itself, and the call, which stays on this machine.
DROPPED = ("reason", "caller_id", "context_hash", *SHOWN)
_log = logging.getLogger(PACKAGE_NAME)


@dataclass(frozen=True)
class ReportOptions:
    """The service that receives the decisions of a local guard.

    `url` and `key` are by default `SERVICE_URL` and `SERVICE_KEY`. Decisions that the service has not confirmed are
    kept in `spool_folder`, by default a folder for this service, agent and tenant below `XDG_STATE_HOME` or
    `~/.local/state`, so that the next start of the program sends what is left. It has up to `spool_bytes_max` bytes. If
    it is full, a check blocks; with `on_spool_full="drop"` the check continues, and its decision is lost and counted.
    Decisions wait for others for at most `interval_seconds`. `close` and the end of the program wait for the service
    for at most `flush_timeout_seconds`.
    """

    url: str | None = None
    key: str | None = None
    timeout_seconds: float = 10.0
    spool_folder: str | os.PathLike[str] | None = None
    spool_bytes_max: int = 16_777_216
    on_spool_full: Literal["block", "drop"] = "block"
    interval_seconds: float = 1.0
    flush_timeout_seconds: float = 5.0


@dataclass(frozen=True)
class ReportStatus:
    """The state of the reports of a local guard.

    `refused` counts decisions that the service did not take; they are in `refused.jsonl` in the spool folder, up to
    1 MiB. `last_error` is the last failure to send, `None` after a success.
    """

    waiting: int
    recorded: int
    refused: int
    dropped: int
    last_error: str | None


class Reporter:
    """Sends what a guard writes. Its thread is a daemon, so that it never keeps a program alive."""

    def __init__(self, options: ReportOptions, agent_id: str, tenant_id: str | None) -> None:
        # Imported here, because a guard without reports has no use for an HTTP client.
        from ._client import ClientBackend

        if options.on_spool_full not in ("block", "drop"):
            raise CustomshouseError('`on_spool_full` must be "block" or "drop".')
        self._options = options
        self._service = ClientBackend(options.url, options.key, options.timeout_seconds)
        folder = options.spool_folder or _name_folder(self._service.url, agent_id, tenant_id or "default")
        self._spool = Spool(os.path.abspath(os.fspath(folder)), options.spool_bytes_max)
        self._sending = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._pid = os.getpid()
        self._closed = threading.Event()
        self._recorded = 0
        self._refused = 0
        self._dropped = 0
        self._failures = 0
        self._last_error: str | None = None
        # Decisions of an earlier process are sent before the first one of this process.
        self._start()

    def write(self, line: str) -> None:
        """Keep a decision. Raises `SpoolFullError` or `OSError` if it can neither be kept nor be dropped."""
        try:
            self._spool.append(line)
        except SpoolFullError:
            if self._options.on_spool_full == "block":
                raise
            self._dropped += 1
            return
        # The set keeps the reporter until the end of the program, where it is flushed.
        _waiting.add(self)
        self._start()
        if not self._wake.is_set():
            self._wake.set()

    def status(self) -> ReportStatus:
        """Return the state of the reports."""
        return ReportStatus(len(self._spool), self._recorded, self._refused, self._dropped, self._last_error)

    def flush(self) -> bool:
        """Send what waits. Return `False` if the service does not confirm it in time."""
        until = time.monotonic() + self._options.flush_timeout_seconds
        while True:
            left = until - time.monotonic()
            if left <= 0 or not self._sending.acquire(timeout=left):
                return False
            try:
                self._send_next(max(0.001, until - time.monotonic()))
            finally:
                self._sending.release()
            if len(self._spool) == 0 and self._failures == 0:
                return True
            if self._failures > 0:
                time.sleep(max(0.0, min(_pause(self._failures, PAUSE_SECONDS), until - time.monotonic())))

    def close(self) -> None:
        """Flush, and leave the rest in the spool folder."""
        if self._closed.is_set():
            return
        self.flush()
        self._closed.set()
        self._wake.set()
        _waiting.discard(self)
        # A request that takes longer than the flush ends with its own timeout. Its lines are in the folder.
        if self._sending.acquire(timeout=self._options.flush_timeout_seconds):
            try:
                self._spool.close()
                self._service.close()
            finally:
                self._sending.release()

    def _start(self) -> None:
        is_alive = self._thread is not None and self._pid == os.getpid()
        if is_alive or self._closed.is_set():
            return
        if self._pid != os.getpid():
            # The locks of the parent may be held by a thread that the child does not have.
            self._sending = threading.Lock()
            self._wake = threading.Event()
            self._closed = threading.Event()
        self._pid = os.getpid()
        name, given = f"{PACKAGE_NAME}-report", (weakref.ref(self),)
        self._thread = threading.Thread(target=_work, args=given, name=name, daemon=True)
        self._thread.start()

    def _send_next(self, seconds: float | None = None) -> None:
        spool = self._spool
        try:
            if len(spool) == 0:
                spool.adopt()
            lines = spool.peek(BATCH_LINES_MAX, BATCH_BYTES_MAX)
            if lines:
                self._send(lines, seconds)
            # Decisions that other processes left follow when none of this one waits.
            if len(spool) == 0:
                spool.adopt()
            self._failures = 0
            self._last_error = None
            _waiting.discard(self)
            if len(spool) > 0:
                _waiting.add(self)
        except (CustomshouseError, OSError) as error:
            self._failures += 1
            self._last_error = str(error)
            if self._failures == 1:
                _log.warning("Decisions of a local guard wait, because they cannot be sent: %s", error)
            spool.touch()

    def _send(self, lines: Sequence[SpooledLine], seconds: float | None) -> None:
        """Send lines and remove them from the queue. A batch that cannot be recorded is halved to find the reason."""
        records = [json.loads(each.line) for each in lines]
        content = json.dumps({"events": [_reported(each) for each in records]}, separators=(",", ":")).encode("ascii")
        try:
            answer = self._service.post(PATH, content, seconds)
            recorded, refused = _read_answer(answer, len(lines))
        except ServiceRefusedError as error:
            if error.status not in (400, 413, 422):
                raise
            if len(lines) > 1:
                middle = len(lines) // 2
                self._send(lines[:middle], seconds)
                self._send(lines[middle:], seconds)
                return
            recorded, refused = 0, [{"event_id": records[0]["event_id"], "reason": str(error)}]
        self._keep_refused(lines, refused)
        self._recorded += recorded
        self._spool.confirm(lines)

    def _keep_refused(self, lines: Sequence[SpooledLine], refused: Sequence[dict[str, Any]]) -> None:
        if not refused:
            return
        names = [str(each.get("event_id")) for each in refused]
        for each in lines:
            if any(name in each.line for name in names):
                self._spool.set_aside(each.line)
        self._refused += len(refused)
        _log.warning("The service refused %d decisions of a local guard: %s", len(refused), refused[0].get("reason"))


def _work(reference: weakref.ref[Reporter]) -> None:
    """Send until the reporter is closed, or no guard holds it any more."""
    while True:
        reporter = reference()
        if reporter is None or reporter._closed.is_set():
            return
        # A flush may send meanwhile.
        with reporter._sending:
            reporter._send_next()
        waiting, failures, wake, closed = len(reporter._spool), reporter._failures, reporter._wake, reporter._closed
        pause = reporter._options.interval_seconds if waiting < BATCH_LINES_MAX else 0.0
        del reporter
        if failures > 0:
            pause = _pause(failures, PAUSE_SECONDS_MAX)
        elif waiting == 0:
            wake.wait(IDLE_SECONDS)
            wake.clear()
        if pause > 0.0:
            closed.wait(pause)


def _reported(record: dict[str, Any]) -> dict[str, Any]:
    """Return the members of a record that the service takes. Without a tenant it is that of the credential."""
    event = {name: value for name, value in record.items() if name not in DROPPED}
    # A sentence. The service takes no text.
    event["metadata"] = {name: value for name, value in record["metadata"].items() if name != "coverage_reason"}
    if event.get("tenant_id") == "default":
        del event["tenant_id"]
    return event


def _read_answer(answer: object, count: int) -> tuple[int, list[dict[str, Any]]]:
    given = answer if isinstance(answer, dict) else {}
    recorded, duplicates, refused = (given.get(name) for name in ("recorded", "duplicates", "refused"))
    if isinstance(recorded, int) and isinstance(duplicates, int) and isinstance(refused, list):
        if recorded + duplicates + len(refused) == count and all(isinstance(each, dict) for each in refused):
            return recorded + duplicates, refused
    raise ServiceUnavailableError("The service did not confirm all decisions. Check its address and its version.")


def _name_folder(url: str, agent_id: str, tenant_id: str) -> Path:
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    # Not by the key, because the decisions of an agent survive a rotation of its key.
    text = json.dumps([url, agent_id, tenant_id], separators=(",", ":"), ensure_ascii=False)
    name = hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]
    return Path(base) / PACKAGE_NAME / "spool" / name


def _pause(failures: int, seconds_max: float) -> float:
    return min(PAUSE_SECONDS * 2.0 ** min(failures - 1, 16), seconds_max) * random.uniform(0.5, 1.0)


# Reporters with decisions that the service has not confirmed.
_waiting: set[Reporter] = set()


def _close_all() -> None:
    for each in list(_waiting):
        if each._pid == os.getpid():
            each.close()


atexit.register(_close_all)
