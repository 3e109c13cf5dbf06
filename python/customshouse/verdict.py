"""The decision on one text, tool call, tool result or message."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Decision = Literal["allow", "block", "modify"]

_DECISIONS = ("allow", "block", "modify")
_ACTIONS = ("allow", "flag", "redact", "require_approval", "block")
_EVENT_ID = re.compile(r"evt_[0-9a-f]{12,64}")
_REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class Violation:
    """A finding of a detector, or a broken term of a contract, an identity or a limit."""

    type: str
    detector: str
    severity: str
    match: str | None = field(default=None, repr=False)
    """The matched text. Only checks of inputs have it."""
    rule_id: str | None = None
    tag: str | None = None
    tags: tuple[str, ...] = ()
    example: bool = False
    start: int | None = None
    end: int | None = None
    path: str | None = None
    rule: str | None = None
    reason: str | None = None
    source: str | None = None
    """``classifier`` for a finding of a classifier that the operator configured."""


@dataclass(frozen=True, slots=True)
class Approval:
    """The request for approval that a verdict depends on."""

    request_id: str
    status: str
    expires_at: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision of one check. It is the same for both kinds of guard."""

    decision: Decision
    """`allow`: use the content as it is. `modify`: use the changed content. `block`: use nothing of it."""
    action: str
    rule: str
    """The rule that decided. Names that begin with `sdk.` are from the SDK itself, which then blocks."""
    reason: str
    """One sentence. It never holds matched text."""
    violations: tuple[Violation, ...] = ()
    event_id: str | None = None
    """The audit event; `None` if the service gave no answer."""
    coverage: str = "full"
    """`partial` if a limit kept a part of the content from being scanned; such content is blocked."""
    approval: Approval | None = None
    fault: bool = False
    """`True` if a fault, and no rule, led to this decision."""
    changed: Any = field(default=None, repr=False)
    """The content to use instead, on `modify`; also a rule's own text on a block of an output."""
    stripped_fields: tuple[str, ...] = ()
    fallback_used: bool = False
    marks: tuple[str, ...] = ()
    """`data`: a tool result passes with instructions in it that are not the user's. Show it to the model as data."""

    @property
    def allowed(self) -> bool:
        """`True` unless the decision is `block`."""
        return self.decision != "block"

    @property
    def blocked(self) -> bool:
        """`True` if the decision is `block`."""
        return self.decision == "block"

    @property
    def modified_text(self) -> str | None:
        """The text to use instead; `None` if it was not changed."""
        return self.changed if isinstance(self.changed, str) else None


def failed_verdict(rule: str, reason: str) -> Verdict:
    """Return the verdict for content that the SDK itself blocks, because it could not be judged."""
    return Verdict("block", "block", rule, reason, coverage="partial", fault=True)


def blocked_because(verdict: Verdict, reason: str, rule: str | None = None) -> Verdict:
    """Return the same verdict as a block for another reason."""
    return replace(verdict, decision="block", reason=reason, rule=rule or verdict.rule, changed=None)


_CHANGED = {
    "scan_input": "modified_text",
    "scan_structured": "modified_payload",
    "guard_output": "modified_text",
    "intercept_agent_message": "modified_message",
}


def read_verdict(operation: str, is_result: bool, answer: object) -> Verdict | None:
    """Read a verdict from an answer. Return `None` if it is not a whole answer to this operation.

    An answer of another program must never allow anything.
    """
    if not isinstance(answer, dict):
        return None
    get = answer.get
    decision, action, coverage = get("decision"), get("action"), get("coverage")
    rule, reason, violations, event_id = get("rule"), get("reason"), get("violations"), get("event_id")
    if decision not in _DECISIONS or action not in _ACTIONS or coverage not in ("full", "partial"):
        return None
    if not (isinstance(rule, str) and isinstance(reason, str) and isinstance(violations, list)):
        return None
    if not isinstance(event_id, str) or _EVENT_ID.fullmatch(event_id) is None:
        return None
    # Only full coverage lets anything pass.
    if decision != "block" and coverage != "full":
        return None
    name = _CHANGED.get(operation) or ("modified_output" if is_result else "modified_input")
    changed = get(name)
    is_text = operation not in ("intercept_tool", "scan_structured")
    if decision == "modify" and (name not in answer or (is_text and not isinstance(changed, str))):
        return None
    stripped = get("stripped_fields")
    marks = get("marks")
    return Verdict(
        decision=decision,
        action=action,
        rule=rule,
        reason=reason,
        violations=tuple(_read_violation(each) for each in violations if isinstance(each, dict)),
        event_id=event_id,
        coverage=coverage,
        approval=read_approval(get("approval")),
        fault=get("fault") is True,
        changed=changed,
        stripped_fields=tuple(stripped) if isinstance(stripped, list) else (),
        fallback_used=get("fallback_used") is True,
        marks=("data",) if isinstance(marks, list) and "data" in marks else (),
    )


def read_approval(value: object) -> Approval | None:
    """Read a reference to a request for approval; `None` if there is none."""
    if not isinstance(value, dict):
        return None
    request_id, status, expires_at = value.get("request_id"), value.get("status"), value.get("expires_at")
    if not isinstance(request_id, str) or _REQUEST_ID.fullmatch(request_id) is None or not isinstance(status, str):
        return None
    return Approval(request_id, status, expires_at if isinstance(expires_at, str) else None)


def _read_violation(given: Mapping[str, Any]) -> Violation:
    tags = given.get("tags")
    return Violation(
        type=str(given.get("type", "")),
        detector=str(given.get("detector", "")),
        severity=str(given.get("severity", "")),
        match=given.get("match"),
        rule_id=given.get("rule_id"),
        tag=given.get("tag"),
        tags=tuple(tags) if isinstance(tags, list) else (),
        example=given.get("example") is True,
        start=given.get("start"),
        end=given.get("end"),
        path=given.get("path"),
        rule=given.get("rule"),
        reason=given.get("reason"),
        source=given.get("source"),
    )
