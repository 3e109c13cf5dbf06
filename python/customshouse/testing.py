"""Assertions about verdicts, for tests of agents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .errors import BlockedError
from .verdict import Verdict


def assert_blocked(checked: Verdict | Callable[[], Any], *, rule: str | None = None) -> Verdict:
    """Assert that a verdict blocks, or that a call raises `BlockedError`. Return the verdict.

    `rule` is the expected rule. The message of a failure holds no matched text.
    """
    verdict: Verdict | None = None
    if isinstance(checked, Verdict):
        verdict = checked
    else:
        try:
            checked()
        except BlockedError as error:
            verdict = error.verdict
    if verdict is None:
        raise AssertionError("expected a block, but the call returned")
    if verdict.decision != "block":
        raise AssertionError(f"expected a block, but `{verdict.rule}` decided `{verdict.decision}`")
    if rule is not None and verdict.rule != rule:
        raise AssertionError(f"expected a block by `{rule}`, but `{verdict.rule}` blocked: {verdict.reason}")
    return verdict


def assert_redacted(verdict: Verdict, *without: str, rule: str | None = None) -> Any:
    """Assert that a verdict changes the content, and that the changed content has none of the texts `without`.

    Return the changed content.
    """
    if verdict.decision != "modify":
        raise AssertionError(f"expected a change, but `{verdict.rule}` decided `{verdict.decision}`")
    if rule is not None and verdict.rule != rule:
        raise AssertionError(f"expected a change by `{rule}`, but `{verdict.rule}` decided")
    left = sum(_holds(verdict.changed, text) for text in without)
    if left:
        raise AssertionError(f"{left} of {len(without)} texts are still in the changed content")
    return verdict.changed


def _holds(value: Any, text: str) -> bool:
    if isinstance(value, str):
        return text in value
    if isinstance(value, dict):
        return any(_holds(key, text) or _holds(each, text) for key, each in value.items())
    if isinstance(value, list):
        return any(_holds(each, text) for each in value)
    return False
