"""The back end that asks a service over HTTP. Whatever goes wrong is a verdict that blocks."""

from __future__ import annotations

import asyncio
import json
import os
import time
import urllib.parse
import weakref
from typing import Any, Literal

import httpx

from ._flow import Body, Check
from ._plain import encode
from .errors import CustomshouseError, AIBackendNotConfiguredError, ServiceRefusedError, ServiceUnavailableError
from .verdict import Approval, Verdict, failed_verdict, read_approval, read_verdict

OnUnavailable = Literal["block", "allow"]

PATHS = {
    "scan_input": "/v1/scan/input",
    "scan_structured": "/v1/scan/structured",
    "guard_output": "/v1/guard/output",
    "intercept_tool": "/v1/intercept/tool",
    "intercept_agent_message": "/v1/intercept/agent-message",
}
ADVISOR_PATHS = {
    "auto_config": "/v1/intelligence/auto-config",
    "recommend": "/v1/intelligence/recommend",
    "explain": "/v1/intelligence/explain",
    "compliance": "/v1/intelligence/compliance",
    "integrate": "/v1/intelligence/integrate",
}
ANSWER_BYTES_MAX = 67_108_864
MESSAGE_CHARACTERS_MAX = 500
STREAM_CHARACTERS_MAX = 8_388_608
# Pauses before a read is tried again, in seconds. What decides is never tried again.
RETRY_PAUSES = (0.05, 0.25)
# The time limit of one answer of the model if the service does not give it. It is the default of the service.
MODEL_SECONDS = 120.0
# An advisor sends an answer that cannot be used back once.
MODEL_ANSWERS_MAX = 2
# Time for the retries and the checks of the service in addition to the answers of the model.
ADVISOR_EXTRA_SECONDS = 30.0
STATUS_PATH = "/v1/intelligence/status"

NOT_AN_ANSWER = "The service did not answer as it should. Check its address and its version."


class ClientBackend:
    """Asks the service at `url`. Connections are kept alive, one pool for sync and one for each event loop."""

    kind = "client"

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        timeout_seconds: float = 10.0,
        on_unavailable: OnUnavailable = "block",
        transport: httpx.BaseTransport | None = None,
        async_transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.url = (url or os.environ.get("SERVICE_URL") or "http://127.0.0.1:8000").rstrip("/")
        parts = urllib.parse.urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise CustomshouseError("`url` is not an address of a service. Use one as `http://127.0.0.1:8000`.")
        if not timeout_seconds > 0:
            raise CustomshouseError("`timeout_seconds` must be a number of seconds above 0.")
        if on_unavailable not in ("block", "allow"):
            raise CustomshouseError('`on_unavailable` must be "block" or "allow".')
        key = key or os.environ.get("SERVICE_KEY")
        self.timeout_seconds = timeout_seconds
        self.on_unavailable = on_unavailable
        self._host = parts.netloc.rpartition("@")[2]
        headers = {"accept": "application/json", "content-type": "application/json"}
        # A proxy of the environment cannot reach this machine's own addresses.
        is_loopback = parts.hostname in ("127.0.0.1", "::1", "localhost")
        self._settings: dict[str, Any] = {
            "base_url": self.url,
            "headers": {**headers, **({"x-service-key": key} if key else {})},
            "timeout": timeout_seconds,
            # Content goes to the service alone, and not to an address that an answer names.
            "follow_redirects": False,
            "trust_env": not is_loopback,
        }
        self._transport = transport
        self._async_transport = async_transport
        self._client: httpx.Client | None = None
        self._async_clients: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient] = (
            weakref.WeakKeyDictionary()
        )
        self._pid = os.getpid()

    def check(self, operation: str, body: Body) -> Verdict:
        try:
            answer = self._call("POST", PATHS[operation], _encode(body))
            return self._read(operation, body, answer)
        except Exception as error:
            return self._failure(error)

    async def check_async(self, operation: str, body: Body) -> Verdict:
        try:
            answer = await self._call_async("POST", PATHS[operation], _encode(body))
            return self._read(operation, body, answer)
        except Exception as error:
            return self._failure(error)

    def find_approval(self, request_id: str, wait_seconds: int) -> Approval:
        path = _approval_path(request_id, wait_seconds)
        return _read_approval(self._read_again(path, wait_seconds))

    async def find_approval_async(self, request_id: str, wait_seconds: int) -> Approval:
        path = _approval_path(request_id, wait_seconds)
        return _read_approval(await self._read_again_async(path, wait_seconds))

    def advise(self, advisor: str, body: Body) -> dict[str, Any]:
        try:
            seconds = _advisor_seconds(self._read_status())
            return _mapping(self._call("POST", ADVISOR_PATHS[advisor], _encode(body), seconds))
        except ServiceRefusedError as error:
            raise _advisor_error(error) from None

    async def advise_async(self, advisor: str, body: Body) -> dict[str, Any]:
        try:
            seconds = _advisor_seconds(await self._read_status_async())
            answer = await self._call_async("POST", ADVISOR_PATHS[advisor], _encode(body), seconds)
            return _mapping(answer)
        except ServiceRefusedError as error:
            raise _advisor_error(error) from None

    def _read_status(self) -> object:
        try:
            return self._read_again(STATUS_PATH, 0.0)
        except ServiceRefusedError as error:
            # A key without the permission to see the status may still ask an advisor.
            if error.status != 403:
                raise
            return None

    async def _read_status_async(self) -> object:
        try:
            return await self._read_again_async(STATUS_PATH, 0.0)
        except ServiceRefusedError as error:
            if error.status != 403:
                raise
            return None

    def post(self, path: str, content: bytes, seconds: float | None = None) -> object:
        """Send JSON and return the answer, after `seconds` at most. Raises `CustomshouseError`."""
        less = 0.0 if seconds is None else min(0.0, seconds - self.timeout_seconds)
        return self._call("POST", path, content, less)

    def open_stream(self, boundary: str, body: Body) -> HeldStream:
        return HeldStream("scan_input" if boundary == "input" else "guard_output", body)

    def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.close()

    async def close_async(self) -> None:
        self.close()
        client = self._async_clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()

    def _read(self, operation: str, body: Body, answer: object) -> Verdict:
        verdict = read_verdict(operation, body.get("phase") == "response", answer)
        if verdict is None:
            raise ServiceUnavailableError(NOT_AN_ANSWER)
        return verdict

    def _failure(self, error: Exception) -> Verdict:
        if isinstance(error, ServiceRefusedError) and error.status < 500:
            return failed_verdict("sdk.refused", str(error))
        if isinstance(error, (ServiceUnavailableError, ServiceRefusedError)):
            verdict = failed_verdict("sdk.unavailable", str(error))
            if self.on_unavailable == "block":
                return verdict
            return Verdict("allow", "allow", verdict.rule, verdict.reason, coverage="partial", fault=True)
        if isinstance(error, (TypeError, ValueError, RecursionError)):
            return failed_verdict("sdk.not_json", "The content has no JSON form, so it cannot be judged.")
        return failed_verdict("sdk.fault", "A fault inside the SDK kept it from deciding, so it blocks.")

    def _read_again(self, path: str, wait_seconds: float) -> object:
        for pause in RETRY_PAUSES:
            try:
                return self._call("GET", path, None, wait_seconds)
            except CustomshouseError as error:
                if not _is_passing(error):
                    raise
            time.sleep(pause)
        return self._call("GET", path, None, wait_seconds)

    async def _read_again_async(self, path: str, wait_seconds: float) -> object:
        for pause in RETRY_PAUSES:
            try:
                return await self._call_async("GET", path, None, wait_seconds)
            except CustomshouseError as error:
                if not _is_passing(error):
                    raise
            await asyncio.sleep(pause)
        return await self._call_async("GET", path, None, wait_seconds)

    def _call(self, method: str, path: str, content: bytes | None, wait_seconds: float = 0.0) -> object:
        if self._client is None or self._pid != os.getpid():
            # A connection must not be shared with a process that was forked.
            self._pid = os.getpid()
            self._client = httpx.Client(**self._settings, transport=self._transport)
        seconds = self.timeout_seconds + wait_seconds
        deadline = time.monotonic() + seconds
        try:
            with self._client.stream(method, path, content=content, timeout=seconds) as response:
                parts: list[bytes] = []
                size = 0
                for part in response.iter_bytes():
                    size = _measured(size + len(part), deadline, seconds)
                    parts.append(part)
                return _read_answer(response.status_code, b"".join(parts))
        except httpx.HTTPError as error:
            raise self._unavailable(error, seconds) from None

    async def _call_async(self, method: str, path: str, content: bytes | None, wait_seconds: float = 0.0) -> object:
        loop = asyncio.get_running_loop()
        client = self._async_clients.get(loop)
        if client is None:
            client = httpx.AsyncClient(**self._settings, transport=self._async_transport)
            self._async_clients[loop] = client
        seconds = self.timeout_seconds + wait_seconds
        deadline = time.monotonic() + seconds
        try:
            async with client.stream(method, path, content=content, timeout=seconds) as response:
                parts: list[bytes] = []
                size = 0
                async for part in response.aiter_bytes():
                    size = _measured(size + len(part), deadline, seconds)
                    parts.append(part)
                return _read_answer(response.status_code, b"".join(parts))
        except httpx.HTTPError as error:
            raise self._unavailable(error, seconds) from None

    def _unavailable(self, error: httpx.HTTPError, seconds: float) -> ServiceUnavailableError:
        if isinstance(error, httpx.TimeoutException):
            return ServiceUnavailableError(f"The service did not answer within {seconds:g} seconds.")
        return ServiceUnavailableError(f"The service at {self._host} could not be reached.")


class HeldStream:
    """A stream that is held until its end, because the service judges a text as a whole."""

    def __init__(self, operation: str, body: Body) -> None:
        self._operation = operation
        self._body = body
        self._pieces: list[str] = []
        self._size = 0

    def push(self, text: str) -> tuple[str, Verdict | None]:
        self._size += len(text)
        if self._size > STREAM_CHARACTERS_MAX:
            self._pieces.clear()
            reason = f"A stream may have {STREAM_CHARACTERS_MAX} characters at most."
            return "", failed_verdict("sdk.stream_too_long", reason)
        self._pieces.append(text)
        return "", None

    def end(self) -> Check:
        return Check(self._operation, {**self._body, "text": "".join(self._pieces)})

    def finish(self, verdict: Verdict) -> str:
        if verdict.decision == "allow":
            return "".join(self._pieces)
        return verdict.changed if isinstance(verdict.changed, str) else ""


def _encode(body: Body) -> bytes:
    return encode(body).encode("ascii")


def _measured(size: int, deadline: float, seconds: float) -> int:
    if size > ANSWER_BYTES_MAX:
        raise ServiceUnavailableError(f"The service sent an answer of more than {ANSWER_BYTES_MAX} bytes.")
    # The timeout of a connection begins again with each byte, so that a slow answer could last for ever.
    if time.monotonic() > deadline:
        raise ServiceUnavailableError(f"The service did not answer within {seconds:g} seconds.")
    return size


def _read_answer(status: int, content: bytes) -> object:
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError):
        message = "The service did not answer with JSON. Check the address of the service."
        raise ServiceUnavailableError(message) from None
    if 200 <= status < 300:
        return answer
    given = answer if isinstance(answer, dict) else {}
    said = next((given[name] for name in ("reason", "error") if isinstance(given.get(name), str)), None)
    code = given.get("code")
    message = said or f"The service answered with status {status}."
    raise ServiceRefusedError(
        message[:MESSAGE_CHARACTERS_MAX], status, code[:64] if isinstance(code, str) else "unknown"
    )


def _is_passing(error: CustomshouseError) -> bool:
    if isinstance(error, ServiceRefusedError):
        return error.status in (502, 503, 504) and error.code != "not_configured"
    return isinstance(error, ServiceUnavailableError)


def _approval_path(request_id: str, wait_seconds: int) -> str:
    path = f"/v1/approvals/{urllib.parse.quote(request_id, safe='')}"
    return f"{path}?wait={wait_seconds}s" if wait_seconds > 0 else path


def _read_approval(answer: object) -> Approval:
    approval = read_approval(answer)
    if approval is None:
        raise ServiceUnavailableError(NOT_AN_ANSWER)
    return approval


def _mapping(answer: object) -> dict[str, Any]:
    if not isinstance(answer, dict):
        raise ServiceUnavailableError(NOT_AN_ANSWER)
    return answer


def _advisor_seconds(status: object) -> float:
    """Return a time that is longer than the service itself waits, so that its own error arrives."""
    given = status.get("timeout_seconds") if isinstance(status, dict) else None
    model_seconds = float(given) if isinstance(given, (int, float)) and given > 0 else MODEL_SECONDS
    return MODEL_ANSWERS_MAX * model_seconds + ADVISOR_EXTRA_SECONDS


def _advisor_error(error: ServiceRefusedError) -> CustomshouseError:
    if error.code == "not_configured":
        return AIBackendNotConfiguredError(str(error))
    return error
