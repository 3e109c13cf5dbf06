"""The back end that decides in this process, with the engine of the service."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import time
from collections.abc import Callable
from typing import Any

from ._engine import Engine, EngineError, shared_engine
from ._flow import Backend, Body
from ._journal import Journal
from ._names import SHOWN
from ._plain import encode
from ._report import Reporter
from ._spool import SpoolFullError
from .errors import AIBackendNotConfiguredError, PolicyLoadError, ServiceRequiredError
from .verdict import Approval, Verdict, failed_verdict, read_verdict

# Longer bodies are judged in another thread, so that an event loop goes on meanwhile.
ASYNC_CHARACTERS_MAX = 16_384

NO_APPROVALS = "Approvals are kept by a service, and this guard is local. Pass `service=create_client_guard(...)`."
NO_CAPABILITIES = "Capability tokens are checked by a service, and this guard is local."
NO_ADVISORS = (
    "A local guard has no AI back end. Start a service with `intelligence.enabled: true` and `intelligence.backend` "
    "in service.yaml, and ask it with `create_client_guard(url=...)`."
)


class LocalBackend:
    """Decides with a compiled policy. What needs the state of a service is asked of `service`, or blocked."""

    kind = "local"

    def __init__(
        self,
        source: dict[str, Any],
        journal: Journal | None,
        service: Backend | None = None,
        engine: Engine | None = None,
        record: Callable[[dict[str, Any]], None] | None = None,
        reporter: Reporter | None = None,
    ) -> None:
        self._engine = engine or shared_engine()
        self._journal = journal
        self._service = service
        self._record = record
        self.reporter = reporter
        answer = json.loads(self._engine.call("compile", json.dumps(source)))
        if "ok" not in answer:
            names = ("createClientGuard", "create_client_guard")
            raise PolicyLoadError([str(each).replace(*names) for each in answer["problems"]])
        self._policy: int = answer["ok"]["policy"]
        self.policy_hash: str = answer["ok"]["hash"]

    @property
    def journal_path(self) -> str | None:
        return None if self._journal is None else self._journal.path

    def check(self, operation: str, body: Body) -> Verdict:
        if body.get("capability_token_id") is not None or body.get("approval_request_id") is not None:
            return self._ask_service(operation, body, NO_CAPABILITIES)
        try:
            text = encode(body)
        except (TypeError, ValueError, RecursionError):
            return failed_verdict("sdk.not_json", "The content has no JSON form, so it cannot be judged.")
        verdict = self.check_json(operation, text)
        if verdict.action == "require_approval":
            return self._ask_service(operation, body, f"{verdict.reason} {NO_APPROVALS}")
        return verdict

    async def check_async(self, operation: str, body: Body) -> Verdict:
        is_short = sum(len(each) for each in body.values() if isinstance(each, str)) < ASYNC_CHARACTERS_MAX
        if is_short and self._service is None and _is_small(body):
            return self.check(operation, body)
        return await asyncio.to_thread(self.check, operation, body)

    def check_json(self, operation: str, text: str) -> Verdict:
        """Decide on the JSON text of a body. Never raises."""
        try:
            lines = self._engine.call("check", self._policy, operation, text, _event_id()).split("\n")
            answer = json.loads(lines[0])
            if len(lines) != 2:
                return failed_verdict("sdk.invalid_request", str(answer["error"]))
            if answer["event_id"] is None:
                return failed_verdict(str(answer["rule"]), str(answer["reason"]))
            self._write(lines[1])
            verdict = read_verdict(operation, "modified_output" in answer, answer)
        except EngineError as error:
            return failed_verdict("sdk.fault", str(error))
        except (OSError, SpoolFullError) as error:
            return _unrecorded(error)
        except Exception:
            verdict = None
        return verdict or failed_verdict(
            "sdk.fault", "A fault inside the SDK kept it from deciding, so it blocks."
        )

    def find_approval(self, request_id: str, wait_seconds: int) -> Approval:
        if self._service is None:
            raise ServiceRequiredError(NO_APPROVALS)
        return self._service.find_approval(request_id, wait_seconds)

    async def find_approval_async(self, request_id: str, wait_seconds: int) -> Approval:
        if self._service is None:
            raise ServiceRequiredError(NO_APPROVALS)
        return await self._service.find_approval_async(request_id, wait_seconds)

    def advise(self, advisor: str, body: Body) -> dict[str, Any]:
        if self._service is None:
            raise AIBackendNotConfiguredError(NO_ADVISORS)
        return self._service.advise(advisor, body)

    async def advise_async(self, advisor: str, body: Body) -> dict[str, Any]:
        if self._service is None:
            raise AIBackendNotConfiguredError(NO_ADVISORS)
        return await self._service.advise_async(advisor, body)

    def open_stream(self, boundary: str, body: Body) -> LocalStream:
        return LocalStream(self, boundary, body)

    def close(self) -> None:
        if self.reporter is not None:
            self.reporter.close()
        if self._journal is not None:
            self._journal.close()
        if self._service is not None:
            self._service.close()

    async def close_async(self) -> None:
        if self._service is not None:
            await self._service.close_async()
        await asyncio.to_thread(self.close)

    def _ask_service(self, operation: str, body: Body, reason: str) -> Verdict:
        if self._service is None:
            return failed_verdict("sdk.service_required", reason)
        return self._service.check(operation, body)

    def _write(self, line: str) -> None:
        if self._journal is not None:
            self._journal.write(line)
        if self.reporter is not None:
            self.reporter.write(line)
        if self._record is not None:
            event = json.loads(line)
            self._record({name: value for name, value in event.items() if name not in SHOWN})


class LocalStream:
    """A stream that the engine releases as it arrives."""

    def __init__(self, backend: LocalBackend, boundary: str, body: Body) -> None:
        self._backend = backend
        operation = "scan_input" if boundary == "input" else "guard_output"
        self._operation = operation
        self._number: str | None = None
        self._failure: Verdict | None = None
        try:
            text = json.dumps({**body, "text": ""})
            answer = backend._engine.call("openStream", backend._policy, operation, text)
            if answer.isdigit():
                self._number = answer
            else:
                self._failure = failed_verdict("sdk.invalid_request", str(json.loads(answer)["error"]))
        except Exception:
            self._failure = failed_verdict("sdk.fault", "A fault inside the SDK ended the stream, so it blocks.")

    def push(self, text: str) -> tuple[str, Verdict | None]:
        return self._take("pushStream", text)

    def end(self) -> tuple[str, Verdict | None]:
        return self._take("endStream")

    def finish(self, verdict: Verdict) -> str:
        return ""

    def _take(self, function: str, *values: str) -> tuple[str, Verdict | None]:
        if self._failure is not None or self._number is None:
            return "", self._failure
        try:
            answer = self._backend._engine.call(function, int(self._number), *map(json.dumps, values), _event_id())
            lines = answer.split("\n")
            shown = json.loads(lines[0])
            if not isinstance(shown, str):
                raise ValueError
            if len(lines) == 1:
                return shown, None
            self._backend._write(lines[2])
            verdict = read_verdict(self._operation, False, json.loads(lines[1]))
            if verdict is None:
                raise ValueError
            return shown, verdict
        except (OSError, SpoolFullError) as error:
            self._failure = _unrecorded(error)
        except Exception:
            self._failure = failed_verdict("sdk.fault", "A fault inside the SDK ended the stream, so it blocks.")
        return "", self._failure


def _unrecorded(error: Exception) -> Verdict:
    why = f" {error}" if isinstance(error, SpoolFullError) else ""
    return failed_verdict("fault.audit", f"The decision could not be recorded, so it is not given.{why}")


def _is_small(body: Body) -> bool:
    try:
        return len(json.dumps(body)) < ASYNC_CHARACTERS_MAX
    except (TypeError, ValueError, RecursionError):
        return False


def _event_id() -> str:
    # Longer than those of the service, so that no decision of a guard has the id of an event that the service wrote.
    return f"evt_{int(time.time() * 1000):011x}{secrets.token_hex(11)[:21]}"
