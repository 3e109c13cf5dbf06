"""Calls whose arguments may not be shown, decided before the conversation holds them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from .. import BlockedError, Guard
from ..verdict import failed_verdict
from ._shown import write_json

_CALLS_MAX = 1_000
"""The decisions that are kept; the oldest is dropped first."""
WITHHELD = "[WITHHELD]"
"""The text that replaces each text in the arguments of a refused call. A call that has it is never run."""
_KINDS = (bool, int, float, list, dict, type(None))

_Key = tuple[str, str, str]
"""Call id, tool and arguments. Some frameworks do not tell a tool its call id, so that the id is empty there."""


@dataclass
class _Decisions:
    """Decisions of one guard."""

    allowed: dict[_Key, bool] = field(default_factory=dict)
    refused: dict[_Key, BlockedError] = field(default_factory=dict)


class HeldCalls:
    """Decisions on the calls of a model.

    A call is decided when the model makes it if a check finds something in its arguments. The conversation then holds
    the arguments of an allowed call as the rules changed them, and only the names of a refused one. All other calls are
    decided when their tool runs.
    """

    def __init__(self, guard: Guard, decisions: _Decisions) -> None:
        self._guard = guard
        self._decisions = decisions

    def hold(self, call_id: str | None, tool: str, arguments: Any) -> Any:
        """Return the arguments that the conversation may hold."""
        written = write_json(arguments)
        if not arguments or self._is_harmless(written):
            return arguments
        try:
            return self._allow(call_id, tool, self._guard.protect.tool(tool, arguments))
        except BlockedError as error:
            names = _names_of(arguments)
            return self._refuse(call_id, tool, arguments if self._is_harmless(names) else {}, error)

    async def ahold(self, call_id: str | None, tool: str, arguments: Any) -> Any:
        """Hold as `hold` does."""
        written = write_json(arguments)
        if not arguments or await self._is_harmless_async(written):
            return arguments
        try:
            return self._allow(call_id, tool, await self._guard.aio.protect.tool(tool, arguments))
        except BlockedError as error:
            names = _names_of(arguments)
            return self._refuse(call_id, tool, arguments if await self._is_harmless_async(names) else {}, error)

    async def ahold_json(self, call_id: str | None, tool: str, arguments: str | None) -> str | None:
        """Hold arguments that are JSON text. Other text is never run, and is withheld if a check finds something."""
        try:
            parsed = json.loads(arguments or "{}")
        except ValueError:
            return arguments if await self._is_harmless_async(str(arguments)) else "{}"
        held = await self.ahold(call_id, tool, parsed)
        return arguments if held == parsed else json.dumps(held)

    def find_refusal(self, call_id: str | None, tool: str, arguments: Any) -> BlockedError | None:
        """Return the error of a call that was refused when the model made it."""
        error = self._decisions.refused.get(_key_of(call_id, tool, arguments))
        if error is None and _is_blank(arguments):
            return BlockedError(failed_verdict("sdk.withheld", "The call was refused, and its arguments were not kept."))
        return error

    def decide(self, call_id: str | None, tool: str, arguments: Any, parsed: Any = None) -> Any:
        """Return the arguments with which a tool may run, as `protect.tool` does. Raise `BlockedError`.

        `parsed` are the arguments as the framework hands them to the tool, if they differ from those of the model.
        """
        given = arguments if parsed is None else parsed
        return given if self._take(call_id, tool, arguments) else self._guard.protect.tool(tool, given)

    async def adecide(self, call_id: str | None, tool: str, arguments: Any, parsed: Any = None) -> Any:
        """Decide as `decide` does."""
        given = arguments if parsed is None else parsed
        return given if self._take(call_id, tool, arguments) else await self._guard.aio.protect.tool(tool, given)

    def _is_harmless(self, text: str) -> bool:
        try:
            verdict = self._guard.output(text)
        except BlockedError:
            return False
        return verdict.decision == "allow" and not verdict.violations

    async def _is_harmless_async(self, text: str) -> bool:
        try:
            verdict = await self._guard.aio.output(text)
        except BlockedError:
            return False
        return verdict.decision == "allow" and not verdict.violations

    def _allow(self, call_id: str | None, tool: str, arguments: Any) -> Any:
        keep(self._decisions.allowed, _key_of(call_id, tool, arguments), True)
        return arguments

    def _refuse(self, call_id: str | None, tool: str, arguments: Any, error: BlockedError) -> Any:
        blank = {name: _blank(each) for name, each in arguments.items()} if isinstance(arguments, dict) else WITHHELD
        keep(self._decisions.refused, _key_of(call_id, tool, blank), error)
        return blank

    def _take(self, call_id: str | None, tool: str, arguments: Any) -> bool:
        """Return whether this call was allowed, which counts once. Raise the error of a refused one each time."""
        error = self.find_refusal(call_id, tool, arguments)
        if error is not None:
            raise error
        # Something between the model and the tool may have changed the arguments.
        return self._decisions.allowed.pop(_key_of(call_id, tool, arguments), False)


def _names_of(arguments: Any) -> str:
    return " ".join(map(str, arguments)) if isinstance(arguments, dict) else ""


def _blank(value: Any) -> Any:
    """Return a value of the same kind, because some frameworks check kinds before a guard can refuse the call."""
    return type(value)() if type(value) in _KINDS else WITHHELD


def _is_blank(arguments: Any) -> bool:
    values = arguments.values() if isinstance(arguments, dict) else [arguments]
    return any(isinstance(each, str) and each == WITHHELD for each in values)


def _key_of(call_id: str | None, tool: str, arguments: Any) -> _Key:
    return call_id or "", tool, write_json(arguments)


def keep(decisions: dict[Any, Any], key: Any, decision: Any) -> None:
    """Keep a decision, and drop the oldest if there are too many."""
    decisions[key] = decision
    if len(decisions) > _CALLS_MAX:
        del decisions[next(iter(decisions))]


_decisions: WeakKeyDictionary[Guard, _Decisions] = WeakKeyDictionary()


def held_calls(guard: Guard) -> HeldCalls:
    """Return the decisions of a guard, which its models and tools share."""
    return HeldCalls(guard, _decisions.setdefault(guard, _Decisions()))


def replace_arguments(value: Any, old: Any, new: Any) -> Any:
    """Return a message of a framework with other arguments of a call, in each form in which it holds them."""
    if isinstance(value, str):
        return json.dumps(new, ensure_ascii=False) if _parse_object(value) == old else value
    if isinstance(value, dict):
        return new if value == old else {name: replace_arguments(each, old, new) for name, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(replace_arguments(each, old, new) for each in value)
    copy = getattr(value, "model_copy", None)
    if copy is None:
        return value
    members = {name: (each, replace_arguments(each, old, new)) for name, each in vars(value).items()}
    changed = {name: each for name, (given, each) in members.items() if each != given}
    return copy(update=changed) if changed else value


def _parse_object(text: str) -> Any:
    try:
        return json.loads(text) if text.lstrip().startswith("{") else None
    except ValueError:
        return None
