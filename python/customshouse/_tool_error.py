"""Checks the errors of tools. Frameworks show them to the model as results."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from .errors import BlockedError, ToolError

if TYPE_CHECKING:
    from .guard import AsyncProtection, Protection

Result = TypeVar("Result")

CAUSES_MAX = 16
"""Errors that belong to one error and are read. One with more is replaced."""


def run_tool(
    protect: Protection,
    tool: str,
    call: Callable[[], Result],
    passed: tuple[type[Exception], ...] = (),
    **subject: Any,
) -> Result:
    """Run a tool. Raise its error as it is if its text may pass, `ToolError` with masked text, or `BlockedError`.

    Errors of the types `passed` steer the framework, and no model reads them.
    """
    try:
        return call()
    except Exception as error:
        if isinstance(error, (BlockedError, *passed)):
            raise
        failure = error
    # Outside of the handler, so that a new error has no context with the text as it was.
    raise checked_error(failure, protect.tool_result(tool, error_text(failure), **subject))


async def run_tool_async(
    protect: AsyncProtection,
    tool: str,
    call: Callable[[], Awaitable[Result]],
    passed: tuple[type[Exception], ...] = (),
    **subject: Any,
) -> Result:
    """Run a tool as `run_tool` does."""
    try:
        return await call()
    except Exception as error:
        if isinstance(error, (BlockedError, *passed)):
            raise
        failure = error
    raise checked_error(failure, await protect.tool_result(tool, error_text(failure), **subject))


def checked_error(error: Exception, checked: Any) -> Exception:
    """Return the error to raise, where `checked` is its text after the check."""
    return error if checked == error_text(error) and checked != UNREADABLE else ToolError(str(checked))


def error_text(error: BaseException) -> str:
    """Return the text that a framework may show of an error: its own, its notes, and that of its causes."""
    texts: list[str] = []
    try:
        for each in _related(error):
            if len(texts) == CAUSES_MAX:
                return UNREADABLE
            texts.append("\n".join([str(each), *map(str, getattr(each, "__notes__", ()))]))
    except Exception:
        return UNREADABLE
    return "\n".join(texts)


UNREADABLE = "The tool failed, and its error cannot be read."


def _related(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    rest = [error]
    while rest:
        each = rest.pop(0)
        if id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        context = None if each.__suppress_context__ else each.__context__
        rest += [one for one in (each.__cause__, context, *getattr(each, "exceptions", ())) if one is not None]
