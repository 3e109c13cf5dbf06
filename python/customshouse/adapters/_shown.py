"""What a model has written, as a program may show it."""

from __future__ import annotations

import json
from typing import Any

from .. import BlockedError, Guard
from .._plain import NotJson, to_plain
from ..verdict import failed_verdict


class ShownTexts:
    """Checks each text of an answer once: the answer, and the same text in its events."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._checked: dict[str, str] = {}

    async def check(self, text: str) -> str:
        """Return the text that may be shown. Raise `BlockedError`."""
        if not text:
            return text
        if text not in self._checked:
            checked = await self._guard.aio.protect.output(text)
            self._checked.update({text: checked, checked: checked})
        return self._checked[text]

    async def is_unchanged(self, value: Any) -> bool:
        """Return whether a value may be shown as it is. Raise `BlockedError`."""
        text = value if isinstance(value, str) else write_json(value)
        return await self.check(text) == text

    async def check_arguments(self, arguments: Any) -> Any:
        """Return what may be shown of the arguments of a call: nothing of blocked ones.

        The call itself keeps its arguments, and is checked before the tool runs.
        """
        try:
            text = arguments if isinstance(arguments, str) else write_json(arguments)
            checked = await self.check(text)
            if checked == text:
                return arguments
            return checked if isinstance(arguments, str) else json.loads(checked)
        except (BlockedError, ValueError):
            return "{}" if isinstance(arguments, str) else {}


def write_json(value: Any) -> str:
    """Return the JSON form of a value. Raise `BlockedError` if it has none."""
    try:
        return json.dumps(to_plain(value), ensure_ascii=False)
    except (NotJson, RecursionError):
        reason = f"A value of the type `{type(value).__name__}` cannot be judged."
        raise BlockedError(failed_verdict("sdk.not_json", reason)) from None
