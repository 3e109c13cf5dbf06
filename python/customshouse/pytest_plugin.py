"""The plug-in for pytest: a guard with a policy of the test, and assertions. pytest loads it by itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from . import testing
from ._create import create_local_guard
from .guard import Guard


@pytest.fixture
def safety_policy() -> str | os.PathLike[str] | dict[str, Any] | None:
    """The policy of `safety_guard`. Override it: a path of service.yaml, its content, or `None` for the built-in one."""
    return None


@pytest.fixture
def safety_guard(
    safety_policy: str | os.PathLike[str] | dict[str, Any] | None, tmp_path: Path
) -> Iterator[Guard]:
    """A local guard with the policy of `safety_policy`. Its journal is in the folder of the test."""
    is_content = isinstance(safety_policy, dict)
    guard = create_local_guard(
        None if is_content else safety_policy,  # type: ignore[arg-type]
        policy={"config": safety_policy} if is_content else None,
        audit_path=tmp_path / "journal.jsonl",
        on_approval="raise",
    )
    yield guard
    guard.close()


@pytest.fixture
def assert_blocked() -> Callable[..., Any]:
    """`customshouse.testing.assert_blocked`."""
    return testing.assert_blocked


@pytest.fixture
def assert_redacted() -> Callable[..., Any]:
    """`customshouse.testing.assert_redacted`."""
    return testing.assert_redacted
