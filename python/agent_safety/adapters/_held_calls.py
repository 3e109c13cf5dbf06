"""Calls whose arguments may not be shown, decided before the conversation holds them."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from .. import BlockedError, Guard
from ._shown import write_json

_CALLS_MAX = 1_000
"""The decisions that are kept; the oldest is dropped first."""


class HeldCalls:
    """Decisions on the calls of a model, by their ids.

    A call is decided when the model makes it if an answer could not show its arguments. The conversation then holds the
    arguments of an allowed call, and none of a refused one. All other calls are decided when their tool runs.
    """

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._allowed: dict[str, str] = {}
        self._refused: dict[str, BlockedError] = {}

    def hold(self, call_id: str | None, tool: str, arguments: Any) -> Any:
        """Return the arguments that the conversation may hold."""
        if not call_id or not arguments:
            return arguments
        written = write_json(arguments)
        try:
            if self._guard.protect.output(written) == written:
                return arguments
        except BlockedError:
            pass
        try:
            return self._allow(call_id, self._guard.protect.tool(tool, arguments))
        except BlockedError as error:
            return self._refuse(call_id, error)

    async def ahold(self, call_id: str | None, tool: str, arguments: Any) -> Any:
        """Hold as `hold` does."""
        if not call_id or not arguments:
            return arguments
        written = write_json(arguments)
        try:
            if await self._guard.aio.protect.output(written) == written:
                return arguments
        except BlockedError:
            pass
        try:
            return self._allow(call_id, await self._guard.aio.protect.tool(tool, arguments))
        except BlockedError as error:
            return self._refuse(call_id, error)

    def decide(self, call_id: str | None, tool: str, arguments: Any) -> Any:
        """Return the arguments with which a tool may run, as `protect.tool` does. Raise `BlockedError`."""
        return arguments if self._is_allowed(call_id, arguments) else self._guard.protect.tool(tool, arguments)

    async def adecide(self, call_id: str | None, tool: str, arguments: Any) -> Any:
        """Decide as `decide` does."""
        if self._is_allowed(call_id, arguments):
            return arguments
        return await self._guard.aio.protect.tool(tool, arguments)

    def _allow(self, call_id: str, arguments: Any) -> Any:
        _keep(self._allowed, call_id, write_json(arguments))
        return arguments

    def _refuse(self, call_id: str, error: BlockedError) -> dict[str, Any]:
        _keep(self._refused, call_id, error)
        return {}

    def _is_allowed(self, call_id: str | None, arguments: Any) -> bool:
        """Return whether this call was allowed, which counts once. Raise the error of a refused one each time."""
        if call_id is None:
            return False
        if not arguments and call_id in self._refused:
            raise self._refused[call_id]
        # Something between the model and the tool may have changed the arguments.
        return call_id in self._allowed and self._allowed.pop(call_id) == write_json(arguments)


def _keep(decisions: dict[str, Any], call_id: str, decision: Any) -> None:
    decisions[call_id] = decision
    if len(decisions) > _CALLS_MAX:
        del decisions[next(iter(decisions))]


_held: WeakKeyDictionary[Guard, HeldCalls] = WeakKeyDictionary()


def held_calls(guard: Guard) -> HeldCalls:
    """Return the decisions of a guard, which its models and tools share."""
    return _held.setdefault(guard, HeldCalls(guard))
