"""The guard: checks of what enters an agent, what it does, and what leaves it."""

from __future__ import annotations

import os
import sys
import time
import uuid
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict, TypeVar

from ._flow import Advise, Backend, Body, Check, FindApproval, Flow, Sleep, run, run_async
from ._tool_error import run_tool, run_tool_async
from ._plain import NotJson, restore, to_plain
from ._report import ReportStatus
from .errors import CustomshouseError, ApprovalRequiredError, BlockedError
from .intelligence import AsyncIntelligence, Intelligence
from .verdict import Verdict, blocked_because, failed_verdict

if sys.version_info >= (3, 11):
    from typing import Unpack
else:
    from typing_extensions import Unpack

Value = TypeVar("Value")
Output = TypeVar("Output")
OnApproval = Literal["wait", "raise"]

APPROVAL_SECONDS = 300.0
WAIT_SECONDS_MAX = 20
PAUSE_SECONDS = 0.2


class Subject(TypedDict, total=False):
    """The subject of a check. A member that is not given is taken from the guard."""

    agent_id: str
    session_id: str | None
    tenant_id: str
    source_agent_id: str
    destination_agent_id: str
    data_tags: list[str]
    user_id: str
    chain: list[str]
    agent_tier: Literal["interactive", "subagent", "background", "api"]
    task_id: str
    trace_id: str
    approval_request_id: str
    capability_token_id: str
    capability_action: str


@dataclass(frozen=True)
class GuardOptions:
    """Options that both kinds of guard have."""

    agent_id: str
    session_id: str | None
    tenant_id: str | None
    raise_on_block: bool
    on_approval: OnApproval
    approval_timeout_seconds: float


def read_options(
    agent_id: str | None = None,
    session_id: str | None = "",
    tenant_id: str | None = None,
    raise_on_block: bool = False,
    on_approval: OnApproval = "wait",
    approval_timeout_seconds: float | None = None,
) -> GuardOptions:
    """Fill in the defaults: `SERVICE_AGENT_ID`, a random session, `SERVICE_APPROVAL_SECONDS` or 300."""
    if on_approval not in ("wait", "raise"):
        raise CustomshouseError('`on_approval` must be "wait" or "raise".')
    if approval_timeout_seconds is None:
        try:
            approval_timeout_seconds = float(os.environ.get("SERVICE_APPROVAL_SECONDS") or APPROVAL_SECONDS)
        except ValueError:
            approval_timeout_seconds = APPROVAL_SECONDS
    return GuardOptions(
        agent_id=agent_id or os.environ.get("SERVICE_AGENT_ID") or "agent",
        session_id=str(uuid.uuid4()) if session_id == "" else session_id,
        tenant_id=tenant_id,
        raise_on_block=raise_on_block,
        on_approval=on_approval,
        approval_timeout_seconds=max(0.0, approval_timeout_seconds),
    )


@dataclass(frozen=True, slots=True)
class _Request:
    """One check: its effect, and how to put changed content in the place of the original."""

    check: Check
    original: Any
    plain: Any
    problem: str | None = None


class _Guarding:
    """The checks of a guard, as flows without input and output."""

    def __init__(self, backend: Backend, options: GuardOptions) -> None:
        self.backend = backend
        self.options = options

    def body(self, given: Body) -> Body:
        body: Body = {"agent_id": self.options.agent_id, "session_id": self.options.session_id}
        if self.options.tenant_id is not None:
            body["tenant_id"] = self.options.tenant_id
        body.update((name, value) for name, value in given.items() if value is not None)
        if given.get("session_id", "") is None:
            body["session_id"] = None
        # The service takes the person and the chain in `context`.
        stated = {name: body.pop(name) for name in _IN_CONTEXT if name in body}
        if stated:
            body["context"] = {**body.get("context", {}), **stated}
        return body

    def text(self, operation: str, text: str, tool: str | None, subject: Body) -> _Request:
        about = {k: v for k, v in subject.items() if k not in _ACTION_ONLY}
        context = {} if tool is None else {"context": {"tool": tool}}
        problem = None if isinstance(text, str) else f"a text of the type `{type(text).__name__}`"
        return _Request(Check(operation, self.body({"text": text, **context, **about})), text, text, problem)

    def prompt(self, text: str, tool: str | None, subject: Body) -> _Request:
        request = self.text("scan_input", text, tool, subject)
        request.check.body["context"] = {**request.check.body.get("context", {}), "origin": "user"}
        return request

    def message(self, text: str, sender: str, receiver: str, subject: Body) -> _Request:
        # The sender acts, whichever agent the guard belongs to.
        agents = {"source_agent_id": sender, "destination_agent_id": receiver}
        body = self.body({"agent_id": sender, "message": text, **subject, **agents})
        return _Request(Check("intercept_agent_message", body), text, text)

    def structured(self, payload: Any, tool: str | None, subject: Body) -> _Request:
        context = {} if tool is None else {"context": {"tool": tool}}
        about = {k: v for k, v in subject.items() if k not in _ACTION_ONLY}
        return self.value("scan_structured", "payload", payload, {**context, **about})

    def call(self, tool: str, arguments: Any, subject: Body) -> _Request:
        return self.value("intercept_tool", "input", arguments, {**subject, "tool": tool, "phase": "request"})

    def result(self, tool: str, output: Any, subject: Body) -> _Request:
        about = {k: v for k, v in subject.items() if not k.startswith("capability_")}
        return self.value("intercept_tool", "output", output, {**about, "tool": tool, "phase": "response"})

    def value(self, operation: str, member: str, value: Any, about: Body) -> _Request:
        try:
            plain = to_plain(value)
        except NotJson as problem:
            return _Request(Check(operation, self.body(about)), value, None, str(problem))
        except RecursionError:
            return _Request(Check(operation, self.body(about)), value, None, "a value that contains itself")
        body = self.body(about)
        body[member] = plain
        return _Request(Check(operation, body), value, plain)

    def decide(self, request: _Request) -> Flow[Verdict]:
        if request.problem is not None:
            reason = f"The content has {request.problem}, which has no JSON form, so it cannot be judged."
            return failed_verdict("sdk.not_json", reason)
        verdict = yield request.check
        return _as_verdict(verdict)

    def checked(self, request: _Request) -> Flow[Verdict]:
        """Return the verdict, or raise it where `raise_on_block` is set."""
        verdict = yield from self.decide(request)
        if self.options.raise_on_block and verdict.decision == "block":
            raise self.block_error(verdict)
        return verdict

    def protect(self, request: _Request) -> Flow[Any]:
        """Return the content to use. Raise if nothing may be used."""
        verdict = yield from self.decide(request)
        if verdict.decision == "block":
            error = self.block_error(verdict)
            if not isinstance(error, ApprovalRequiredError) or self.options.on_approval == "raise":
                raise error
            request_id = yield from self.wait(verdict, error.request_id, None)
            again = Check(request.check.operation, {**request.check.body, "approval_request_id": request_id})
            verdict = yield from self.decide(replace(request, check=again))
        if verdict.decision == "block":
            raise self.block_error(verdict)
        if verdict.decision == "allow":
            return request.original
        return restore(request.original, request.plain, verdict.changed)

    def wait(self, verdict: Verdict, request_id: str, timeout_seconds: float | None) -> Flow[str]:
        seconds = self.options.approval_timeout_seconds if timeout_seconds is None else timeout_seconds
        # A monotonic clock, because the clock of the machine may be changed meanwhile.
        until = time.monotonic() + seconds
        while True:
            left = max(0.0, until - time.monotonic())
            try:
                approval = yield FindApproval(request_id, min(WAIT_SECONDS_MAX, int(left)))
            except CustomshouseError as error:
                raise BlockedError(blocked_because(verdict, str(error), "sdk.unavailable")) from None
            if approval.status == "approved":
                return request_id
            if approval.status != "pending":
                reason = f"The approval request {request_id} is {approval.status}."
                raise BlockedError(blocked_because(verdict, reason))
            if time.monotonic() >= until:
                reason = f"The approval request {request_id} was not decided within {seconds:g} seconds."
                raise BlockedError(blocked_because(verdict, reason))
            yield Sleep(PAUSE_SECONDS)

    def block_error(self, verdict: Verdict) -> BlockedError:
        approval = verdict.approval
        if approval is None or approval.status != "pending":
            return BlockedError(verdict)
        request_id = approval.request_id

        def wait(seconds: float | None) -> str:
            return run(self.wait(verdict, request_id, seconds), self.backend)

        def wait_async(seconds: float | None) -> Awaitable[str]:
            return run_async(self.wait(verdict, request_id, seconds), self.backend)

        return ApprovalRequiredError(verdict, request_id, wait, wait_async)

    def advise(self, advisor: str, body: Body) -> Flow[dict[str, Any]]:
        answer: dict[str, Any] = yield Advise(advisor, body)
        return answer

    def with_subject(self, **subject: Any) -> _Guarding:
        return type(self)(self.backend, replace(self.options, **subject))


_IN_CONTEXT = ("user_id", "chain", "agent_tier", "task_id", "trace_id")
_ACTION_ONLY = ("source_agent_id", "destination_agent_id", "data_tags", "capability_token_id", "capability_action")


def _as_verdict(value: object) -> Verdict:
    if isinstance(value, Verdict):
        return value
    return failed_verdict("sdk.fault", "A fault inside the SDK kept it from deciding, so it blocks.")


class Protection:
    """Checks that return the content to use and raise `BlockedError`.

    If a rule requires an approval they wait for it, or raise `ApprovalRequiredError`, as `on_approval` says.
    """

    def __init__(self, guarding: _Guarding) -> None:
        self._guarding = guarding

    def prompt(self, text: str, *, tool: str | None = None, **subject: Unpack[Subject]) -> str:
        """Return the words of a person that may enter the agent."""
        return self._run(self._guarding.prompt(text, tool, dict(subject)))

    def input(self, text: str, *, tool: str | None = None, **subject: Unpack[Subject]) -> str:
        """Return the text that may enter the agent."""
        return self._run(self._guarding.text("scan_input", text, tool, dict(subject)))

    def output(self, text: str, *, tool: str | None = None, **subject: Unpack[Subject]) -> str:
        """Return the text that may leave the agent."""
        return self._run(self._guarding.text("guard_output", text, tool, dict(subject)))

    def structured(self, payload: Value, *, tool: str | None = None, **subject: Unpack[Subject]) -> Value:
        """Return the JSON value that may enter the agent."""
        return self._run(self._guarding.structured(payload, tool, dict(subject)))

    def tool(self, tool: str, arguments: Value, **subject: Unpack[Subject]) -> Value:
        """Return the arguments that the tool may be called with."""
        return self._run(self._guarding.call(tool, arguments, dict(subject)))

    def tool_result(self, tool: str, output: Value, **subject: Unpack[Subject]) -> Value:
        """Return the result that the agent may see."""
        return self._run(self._guarding.result(tool, output, dict(subject)))

    def message(self, text: str, *, sender: str, receiver: str, **subject: Unpack[Subject]) -> str:
        """Return the message that may be delivered."""
        return self._run(self._guarding.message(text, sender, receiver, dict(subject)))

    def _run(self, request: _Request) -> Any:
        return run(self._guarding.protect(request), self._guarding.backend)


class AsyncProtection:
    """`Protection` for asyncio."""

    def __init__(self, guarding: _Guarding) -> None:
        self._guarding = guarding

    async def prompt(self, text: str, *, tool: str | None = None, **subject: Unpack[Subject]) -> str:
        """Return the words of a person that may enter the agent."""
        return await self._run(self._guarding.prompt(text, tool, dict(subject)))

    async def input(self, text: str, *, tool: str | None = None, **subject: Unpack[Subject]) -> str:
        """Return the text that may enter the agent."""
        return await self._run(self._guarding.text("scan_input", text, tool, dict(subject)))

    async def output(self, text: str, *, tool: str | None = None, **subject: Unpack[Subject]) -> str:
        """Return the text that may leave the agent."""
        return await self._run(self._guarding.text("guard_output", text, tool, dict(subject)))

    async def structured(self, payload: Value, *, tool: str | None = None, **subject: Unpack[Subject]) -> Value:
        """Return the JSON value that may enter the agent."""
        return await self._run(self._guarding.structured(payload, tool, dict(subject)))

    async def tool(self, tool: str, arguments: Value, **subject: Unpack[Subject]) -> Value:
        """Return the arguments that the tool may be called with."""
        return await self._run(self._guarding.call(tool, arguments, dict(subject)))

    async def tool_result(self, tool: str, output: Value, **subject: Unpack[Subject]) -> Value:
        """Return the result that the agent may see."""
        return await self._run(self._guarding.result(tool, output, dict(subject)))

    async def message(self, text: str, *, sender: str, receiver: str, **subject: Unpack[Subject]) -> str:
        """Return the message that may be delivered."""
        return await self._run(self._guarding.message(text, sender, receiver, dict(subject)))

    async def _run(self, request: _Request) -> Any:
        return await run_async(self._guarding.protect(request), self._guarding.backend)


class Guard:
    """Checks every boundary of an agent. One guard is one session.

    Create it with `quickstart`, `create_local_guard` or `create_client_guard`. Checks return a `Verdict`. They never
    raise, unless `raise_on_block` is set. The same checks for asyncio are in `aio`.
    """

    def __init__(self, backend: Backend, options: GuardOptions | None = None) -> None:
        self._guarding = _Guarding(backend, options or read_options())
        self.protect = Protection(self._guarding)
        """Checks that return the content to use, and raise `BlockedError`."""
        self.intelligence = Intelligence(lambda name, body: run(self._guarding.advise(name, body), backend))
        """The advisors of the service."""
        self.aio = AsyncGuard(self._guarding)
        """The same guard for asyncio."""

    @property
    def kind(self) -> str:
        """`client` if a service decides, `local` if this process does."""
        return self._guarding.backend.kind

    @property
    def options(self) -> GuardOptions:
        """The agent, the session and the behaviour of this guard."""
        return self._guarding.options

    @property
    def journal_path(self) -> str | None:
        """The journal of a local guard, one JSON object per line; `None` if there is none."""
        return getattr(self._guarding.backend, "journal_path", None)

    @property
    def report_status(self) -> ReportStatus | None:
        """The state of the reports of a local guard to a service; `None` without reports."""
        reporter = getattr(self._guarding.backend, "reporter", None)
        return None if reporter is None else reporter.status()

    def flush(self) -> bool:
        """Send the decisions that wait for a service. Return `False` if it does not confirm them in time."""
        reporter = getattr(self._guarding.backend, "reporter", None)
        return True if reporter is None else reporter.flush()

    def prompt(self, text: str, *, tool: str | None = None, **subject: Unpack[Subject]) -> Verdict:
        """Check the words of a person, whose values the agent may then use.

        A service takes them only with a key that has the permission `prompts:speak`. Text from anywhere else belongs in
        `input`.
        """
        return self._run(self._guarding.prompt(text, tool, dict(subject)))

    def input(self, text: str, *, tool: str | None = None, **subject: Unpack[Subject]) -> Verdict:
        """Check a text that is about to enter the agent."""
        return self._run(self._guarding.text("scan_input", text, tool, dict(subject)))

    def structured(self, payload: Any, *, tool: str | None = None, **subject: Unpack[Subject]) -> Verdict:
        """Check a JSON value that is about to enter the agent."""
        return self._run(self._guarding.structured(payload, tool, dict(subject)))

    def output(self, text: str, *, tool: str | None = None, **subject: Unpack[Subject]) -> Verdict:
        """Check a text that is about to leave the agent."""
        return self._run(self._guarding.text("guard_output", text, tool, dict(subject)))

    def tool(self, tool: str, arguments: Any, **subject: Unpack[Subject]) -> Verdict:
        """Check a tool call before it runs."""
        return self._run(self._guarding.call(tool, arguments, dict(subject)))

    def tool_result(self, tool: str, output: Any, **subject: Unpack[Subject]) -> Verdict:
        """Check the result of a tool before the agent sees it."""
        return self._run(self._guarding.result(tool, output, dict(subject)))

    def message(self, text: str, *, sender: str, receiver: str, **subject: Unpack[Subject]) -> Verdict:
        """Check a message from one agent to another."""
        return self._run(self._guarding.message(text, sender, receiver, dict(subject)))

    def stream(
        self,
        source: Iterable[str],
        *,
        boundary: Literal["input", "output"] = "output",
        **subject: Unpack[Subject],
    ) -> Iterator[str]:
        """Guard a text while it arrives. Yield what may be shown; raise `BlockedError` if a rule blocks.

        A local guard releases text as it arrives. A guard that asks a service yields the text at its end.
        """
        stream = self.open_stream(boundary=boundary, **subject)
        for piece in source:
            yield from _shown(stream.push(piece))
        yield from _shown(stream.end())

    def open_stream(
        self, *, boundary: Literal["input", "output"] = "output", **subject: Unpack[Subject]
    ) -> GuardStream:
        """Guard a text that is pushed piece by piece."""
        return GuardStream(self._guarding, boundary, dict(subject))

    def run(self, tool: str, arguments: dict[str, Any], execute: Callable[..., Output], **subject: Unpack[Subject]) -> Output:
        """Run a tool behind the guard: check the call, run it with the checked arguments, return the checked result.

        The tool does not run if the call is blocked. Then this raises `BlockedError`. The error of a tool that fails is
        checked as a result, and raised as it is or as `ToolError` with masked text.
        """
        allowed = self.protect.tool(tool, arguments, **subject)
        about = _result_subject(subject)
        return self.protect.tool_result(tool, run_tool(self.protect, tool, lambda: execute(**allowed), **about), **about)

    def with_subject(self, **subject: Any) -> Guard:
        """Return the same guard for another `agent_id`, `session_id` or `tenant_id`. Closing one closes both."""
        return Guard(self._guarding.backend, replace(self.options, **subject))

    def close(self) -> None:
        """Write what is not written yet and close connections."""
        self._guarding.backend.close()

    def __enter__(self) -> Guard:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, request: _Request) -> Verdict:
        return run(self._guarding.checked(request), self._guarding.backend)

    # The names of the in-process interface of earlier systems.
    scan_input = input
    scan_structured_input = structured
    guard_output = output
    intercept_tool_request = tool
    intercept_tool_response = tool_result
    intercept_agent_message = message


class AsyncGuard:
    """The checks of a `Guard` for asyncio. It is the member `aio` of a guard."""

    def __init__(self, guarding: _Guarding) -> None:
        self._guarding = guarding
        self.protect = AsyncProtection(guarding)
        """Checks that return the content to use, and raise `BlockedError`."""
        self.intelligence = AsyncIntelligence(
            lambda name, body: run_async(guarding.advise(name, body), guarding.backend)
        )
        """The advisors of the service."""

    async def prompt(self, text: str, *, tool: str | None = None, **subject: Unpack[Subject]) -> Verdict:
        """Check the words of a person. See `Guard.prompt`."""
        return await self._run(self._guarding.prompt(text, tool, dict(subject)))

    async def input(self, text: str, *, tool: str | None = None, **subject: Unpack[Subject]) -> Verdict:
        """Check a text that is about to enter the agent."""
        return await self._run(self._guarding.text("scan_input", text, tool, dict(subject)))

    async def structured(self, payload: Any, *, tool: str | None = None, **subject: Unpack[Subject]) -> Verdict:
        """Check a JSON value that is about to enter the agent."""
        return await self._run(self._guarding.structured(payload, tool, dict(subject)))

    async def output(self, text: str, *, tool: str | None = None, **subject: Unpack[Subject]) -> Verdict:
        """Check a text that is about to leave the agent."""
        return await self._run(self._guarding.text("guard_output", text, tool, dict(subject)))

    async def tool(self, tool: str, arguments: Any, **subject: Unpack[Subject]) -> Verdict:
        """Check a tool call before it runs."""
        return await self._run(self._guarding.call(tool, arguments, dict(subject)))

    async def tool_result(self, tool: str, output: Any, **subject: Unpack[Subject]) -> Verdict:
        """Check the result of a tool before the agent sees it."""
        return await self._run(self._guarding.result(tool, output, dict(subject)))

    async def message(self, text: str, *, sender: str, receiver: str, **subject: Unpack[Subject]) -> Verdict:
        """Check a message from one agent to another."""
        return await self._run(self._guarding.message(text, sender, receiver, dict(subject)))

    async def stream(
        self,
        source: AsyncIterable[str],
        *,
        boundary: Literal["input", "output"] = "output",
        **subject: Unpack[Subject],
    ) -> AsyncIterator[str]:
        """Guard a text while it arrives. Yield what may be shown; raise `BlockedError` if a rule blocks."""
        stream = GuardStream(self._guarding, boundary, dict(subject))
        async for piece in source:
            for text in _shown(stream.push(piece)):
                yield text
        for text in _shown(await stream.end_async()):
            yield text

    async def run(
        self,
        tool: str,
        arguments: dict[str, Any],
        execute: Callable[..., Awaitable[Output]],
        **subject: Unpack[Subject],
    ) -> Output:
        """Run a tool behind the guard: check the call, await it with the checked arguments, return the checked result."""
        allowed = await self.protect.tool(tool, arguments, **subject)
        about = _result_subject(subject)
        result = await run_tool_async(self.protect, tool, lambda: execute(**allowed), **about)
        return await self.protect.tool_result(tool, result, **about)

    async def close(self) -> None:
        """Write what is not written yet and close connections."""
        await self._guarding.backend.close_async()

    async def __aenter__(self) -> AsyncGuard:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _run(self, request: _Request) -> Verdict:
        return await run_async(self._guarding.checked(request), self._guarding.backend)


def _result_subject(subject: Subject) -> Subject:
    rest = {name: value for name, value in subject.items() if name != "approval_request_id"}
    return rest  # type: ignore[return-value]


class GuardStream:
    """A text that is guarded while it arrives. Its methods return what may be shown, and raise `BlockedError`."""

    def __init__(self, guarding: _Guarding, boundary: str, subject: Body) -> None:
        about = {name: value for name, value in subject.items() if name not in _ACTION_ONLY}
        self._guarding = guarding
        self._handle = guarding.backend.open_stream(boundary, guarding.body(about))
        self.verdict: Verdict | None = None
        """The verdict on the whole text. Set when the stream ends, also if a block ended it early."""

    def push(self, text: str) -> str:
        """Take the next piece of text and return what may be shown now. It may be empty."""
        if self.verdict is not None:
            return self._ended("", self.verdict)
        return self._ended(*self._handle.push(text))

    def end(self) -> str:
        """End the text and return the rest of it."""
        if self.verdict is not None:
            return self._ended("", self.verdict)
        last = self._handle.end()
        if isinstance(last, Check):
            verdict = self._guarding.backend.check(last.operation, last.body)
            return self._ended(self._handle.finish(verdict), verdict)
        return self._ended(*last)

    async def end_async(self) -> str:
        """End the text without blocking the event loop, and return the rest of it."""
        if self.verdict is not None:
            return self._ended("", self.verdict)
        last = self._handle.end()
        if isinstance(last, Check):
            verdict = await self._guarding.backend.check_async(last.operation, last.body)
            return self._ended(self._handle.finish(verdict), verdict)
        return self._ended(*last)

    def _ended(self, text: str, verdict: Verdict | None) -> str:
        self.verdict = verdict
        if verdict is not None and verdict.decision == "block":
            raise self._guarding.block_error(verdict)
        return text


def _shown(text: str) -> tuple[str, ...]:
    return (text,) if text else ()
