"""The texts of prompts: what a person wrote, and files of text."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Awaitable, Callable
from typing import Any

from .. import Guard

TEXTS_MAX = 1_000
"""Prompts that are remembered. Others are checked again."""


class PromptTexts:
    """Checks each prompt of a conversation once, because agents send the whole conversation with each call."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._checked: dict[str, str] = {}

    def map(self, content: Any) -> Any:
        """Return the content of a message with checked texts. Raise `BlockedError`."""
        for text in texts_in(content):
            if text not in self._checked:
                self._keep(text, self._guard.protect.input(text))
        return map_content(content, self._checked.__getitem__)

    async def map_async(self, content: Any) -> Any:
        """Map as `map` does."""
        for text in texts_in(content):
            if text not in self._checked:
                self._keep(text, await self._guard.aio.protect.input(text))
        return map_content(content, self._checked.__getitem__)

    def _keep(self, text: str, checked: str) -> None:
        if len(self._checked) >= TEXTS_MAX:
            self._checked.clear()
        self._checked.update({text: checked, checked: checked})


def texts_in(content: Any) -> list[str]:
    """Return the texts in the content of a message, each once."""
    found: dict[str, None] = {}

    def note(text: str) -> str:
        found[text] = None
        return text

    map_content(content, note)
    return list(found)


def map_content(content: Any, change: Callable[[str], str]) -> Any:
    """Return the content of a message with changed texts: those of its parts, and of files of text in them."""
    if isinstance(content, str):
        return change(content) if content else content
    if isinstance(content, (list, tuple)):
        parts = [map_content(each, change) for each in content]
        is_same = all(new is old for new, old in zip(parts, content))
        return content if is_same else type(content)(parts)
    return _map_part(content, change) if isinstance(content, dict) else content


def _map_part(part: dict[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    media_type = next((str(part[name]) for name in MEDIA_TYPES if isinstance(part.get(name), str)), "")
    new: dict[str, Any] = {}
    for name, value in part.items():
        if name == "text" and isinstance(value, str):
            new[name] = change(value) if value else value
        elif isinstance(value, (dict, list)):
            new[name] = map_content(value, change) if isinstance(value, dict) else [map_nested(each, change) for each in value]
        elif name in DATA and isinstance(value, (str, bytes)):
            new[name] = map_data(media_type, value, change)
        elif isinstance(value, str) and value.startswith("data:"):
            new[name] = _map_url(value, change)
        else:
            new[name] = value
    return part if new == part else new


def map_nested(value: Any, change: Callable[[str], str]) -> Any:
    """Return a value in a list below a part. A text there is no prompt, but may be a name."""
    return map_content(value, change) if isinstance(value, (dict, list)) else value


MEDIA_TYPES = ("mime_type", "media_type", "mimeType", "mediaType")
DATA = ("data", "base64", "bytes")
TEXTUAL = ("application/json", "application/xml", "application/yaml", "application/x-ndjson", "application/javascript")


def map_data(media_type: str, data: Any, change: Callable[[str], str]) -> Any:
    """Return the data of a file of text with changed text, in the form it had. Other files are returned as they are."""
    if not _is_textual(media_type):
        return data
    raw, is_base64 = (data, False) if isinstance(data, bytes) else _decode(data)
    text = raw.decode("utf-8", "replace")
    changed = change(text) if text else text
    if changed == text:
        return data
    written = changed.encode()
    return written if isinstance(data, bytes) else base64.b64encode(written).decode() if is_base64 else changed


async def map_data_async(media_type: str, data: Any, check: Callable[[str], Awaitable[str]]) -> Any:
    """Map as `map_data` does, with an async check."""
    found = texts_in({"media_type": media_type, "data": data})
    checked = {text: await check(text) for text in found}
    return map_data(media_type, data, checked.__getitem__)


def _map_url(url: str, change: Callable[[str], str]) -> str:
    head, comma, body = url.partition(",")
    if not comma or not head.endswith(";base64"):
        return url
    changed = map_data(head[len("data:") :].split(";")[0], body, change)
    return url if changed == body else f"{head},{changed}"


def _decode(data: str) -> tuple[bytes, bool]:
    try:
        return base64.b64decode(data, validate=True), True
    except (binascii.Error, ValueError):
        return data.encode(), False


def _is_textual(media_type: str) -> bool:
    kind = media_type.split(";")[0].strip().lower()
    return kind.startswith("text/") or kind in TEXTUAL or kind.endswith(("+json", "+xml"))
