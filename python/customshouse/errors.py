"""Errors of the SDK. Messages never hold matched text."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .verdict import Verdict, Violation


class CustomshouseError(Exception):
    """Base of all errors of the SDK."""


class BlockedError(CustomshouseError):
    """A check blocked. Nothing of the content may be used, and a blocked tool call did not run."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.reason)
        self.verdict = verdict

    @property
    def rule(self) -> str:
        """The rule that decided. Names that begin with `sdk.` are from the SDK itself."""
        return self.verdict.rule

    @property
    def reason(self) -> str:
        """One sentence, the same as the message of the error."""
        return self.verdict.reason

    @property
    def violations(self) -> tuple[Violation, ...]:
        """The findings and broken terms that led to the decision."""
        return self.verdict.violations

    @property
    def event_id(self) -> str | None:
        """The audit event; `None` if the service gave no answer."""
        return self.verdict.event_id


class ToolError(CustomshouseError):
    """A tool failed, and a rule masks its error. The message is the masked text."""


class ApprovalRequiredError(BlockedError):
    """A rule requires that an approver agrees first."""

    def __init__(
        self,
        verdict: Verdict,
        request_id: str,
        wait: Callable[[float | None], str],
        wait_async: Callable[[float | None], Awaitable[str]],
    ) -> None:
        super().__init__(verdict)
        self.request_id = request_id
        self._wait = wait
        self._wait_async = wait_async

    def wait(self, timeout_seconds: float | None = None) -> str:
        """Wait until an approver has agreed.

        Returns the id to pass as `approval_request_id` when the same call is checked again. Raises `BlockedError` if
        the request is denied, expires, or is not decided in time. The default timeout is that of the guard.
        """
        return self._wait(timeout_seconds)

    async def wait_async(self, timeout_seconds: float | None = None) -> str:
        """Wait as `wait` does, without blocking the event loop."""
        return await self._wait_async(timeout_seconds)


class AIBackendNotConfiguredError(CustomshouseError):
    """The advisory layer has no model back end. The message says how to configure one."""


class ServiceUnavailableError(CustomshouseError):
    """The service could not be reached in time, or its answer cannot be used. Checks block instead of raising this."""


class ServiceRefusedError(CustomshouseError):
    """The service refused a request: a wrong key, a missing permission, a malformed request."""

    def __init__(self, message: str, status: int, code: str) -> None:
        super().__init__(message)
        self.status = status
        """The HTTP status."""
        self.code = code
        """The stable code of the refusal, for example `unauthenticated`."""


class ServiceRequiredError(CustomshouseError):
    """A feature that needs the state of a service was used on a local guard."""


class PolicyLoadError(CustomshouseError):
    """A policy that cannot be used. `problems` has one sentence for each mistake."""

    def __init__(self, problems: Sequence[str]) -> None:
        first = problems[0] if problems else "The policy cannot be used."
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        super().__init__(first + more)
        self.problems = tuple(problems)
