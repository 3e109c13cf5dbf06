"""What a guard does, without input and output: generators that yield effects, run by a sync and an async driver."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from .verdict import Approval, Verdict

Body = dict[str, Any]
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Check:
    """Ask the back end for a decision. The result is a `Verdict`."""

    operation: str
    body: Body


@dataclass(frozen=True, slots=True)
class FindApproval:
    """Read a request for approval, after up to `wait_seconds` while it is pending. The result is an `Approval`."""

    request_id: str
    wait_seconds: int


@dataclass(frozen=True, slots=True)
class Advise:
    """Ask an advisor. The result is a mapping."""

    advisor: str
    body: Body


@dataclass(frozen=True, slots=True)
class Sleep:
    """Wait."""

    seconds: float


Effect = Check | FindApproval | Advise | Sleep
Flow = Generator[Effect, Any, Result]


class StreamHandle(Protocol):
    """A text that a back end guards while it arrives. Methods return text to show and the verdict at the end."""

    def push(self, text: str) -> tuple[str, Verdict | None]: ...

    def end(self) -> tuple[str, Verdict | None] | Check: ...

    def finish(self, verdict: Verdict) -> str: ...


class Backend(Protocol):
    """What decides: a service over HTTP, or the engine in this process. `check` never raises."""

    kind: str

    def check(self, operation: str, body: Body) -> Verdict: ...

    async def check_async(self, operation: str, body: Body) -> Verdict: ...

    def find_approval(self, request_id: str, wait_seconds: int) -> Approval: ...

    async def find_approval_async(self, request_id: str, wait_seconds: int) -> Approval: ...

    def advise(self, advisor: str, body: Body) -> dict[str, Any]: ...

    async def advise_async(self, advisor: str, body: Body) -> dict[str, Any]: ...

    def open_stream(self, boundary: str, body: Body) -> StreamHandle: ...

    def close(self) -> None: ...

    async def close_async(self) -> None: ...


def run(flow: Flow[Result], backend: Backend) -> Result:
    """Run a flow to its end and return its result."""
    given: Any = None
    error: BaseException | None = None
    while True:
        try:
            effect = flow.send(given) if error is None else flow.throw(error)
        except StopIteration as stop:
            result: Result = stop.value
            return result
        given, error = None, None
        try:
            given = _perform(effect, backend)
        except Exception as raised:
            error = raised


async def run_async(flow: Flow[Result], backend: Backend) -> Result:
    """Run a flow without blocking the event loop."""
    given: Any = None
    error: BaseException | None = None
    while True:
        try:
            effect = flow.send(given) if error is None else flow.throw(error)
        except StopIteration as stop:
            result: Result = stop.value
            return result
        given, error = None, None
        try:
            given = await _perform_async(effect, backend)
        except Exception as raised:
            error = raised


def _perform(effect: Effect, backend: Backend) -> Any:
    if isinstance(effect, Check):
        return backend.check(effect.operation, effect.body)
    if isinstance(effect, FindApproval):
        return backend.find_approval(effect.request_id, effect.wait_seconds)
    if isinstance(effect, Advise):
        return backend.advise(effect.advisor, effect.body)
    return time.sleep(effect.seconds)


async def _perform_async(effect: Effect, backend: Backend) -> Any:
    if isinstance(effect, Check):
        return await backend.check_async(effect.operation, effect.body)
    if isinstance(effect, FindApproval):
        return await backend.find_approval_async(effect.request_id, effect.wait_seconds)
    if isinstance(effect, Advise):
        return await backend.advise_async(effect.advisor, effect.body)
    return await asyncio.sleep(effect.seconds)
