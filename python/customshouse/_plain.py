"""The JSON form of Python values, which is what is judged."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import decimal
import enum
import json
import os
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

DEPTH_MAX = 200
"""Levels of nesting that are converted. Below it only JSON values are accepted."""


class NotJson(Exception):
    """A value has no JSON form. The message names its type."""


def to_plain(value: Any, depth: int = 0) -> Any:
    """Return the JSON form of a value: the value itself if it is JSON already.

    Models of pydantic, dataclasses, dates, UUIDs, decimals, paths, enums, sets, tuples and bytes are converted.
    Raises `NotJson` for every other type, because content that cannot be read cannot be judged.
    """
    if value is None or isinstance(value, (str, bool, int)) and not isinstance(value, enum.Enum):
        return value
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise NotJson("a number that is not finite")
        return value
    if depth >= DEPTH_MAX and isinstance(value, (dict, list)):
        return value
    if depth >= DEPTH_MAX:
        raise NotJson(f"a value of the type `{type(value).__name__}` below {DEPTH_MAX} levels")
    if isinstance(value, dict):
        return _plain_items(value, depth)
    if isinstance(value, list):
        plain = [to_plain(each, depth + 1) for each in value]
        return value if all(one is other for one, other in zip(plain, value)) else plain
    return _convert(value, depth)


def _plain_items(value: Mapping[Any, Any], depth: int) -> Any:
    plain: dict[str, Any] = {}
    is_same = True
    for key, each in value.items():
        name = key if isinstance(key, str) else _key_text(key)
        item = to_plain(each, depth + 1)
        is_same = is_same and item is each and name is key
        plain[name] = item
    return value if is_same and isinstance(value, dict) else plain


def _key_text(key: Any) -> str:
    if isinstance(key, (int, float, bool)) or key is None:
        return str(key)
    plain = to_plain(key)
    if not isinstance(plain, str):
        raise NotJson(f"a key of the type `{type(key).__name__}`")
    return plain


def _convert(value: Any, depth: int) -> Any:
    if isinstance(value, enum.Enum):
        return to_plain(value.value, depth + 1)
    if isinstance(value, (tuple, set, frozenset)):
        return [to_plain(each, depth + 1) for each in value]
    if isinstance(value, Mapping):
        return _plain_items(value, depth)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _text_of_bytes(bytes(value))
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (datetime.timedelta, decimal.Decimal, uuid.UUID)):
        return str(value)
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        return to_plain(dump(mode="json"), depth + 1)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
        return _plain_items(fields, depth)
    raise NotJson(f"a value of the type `{type(value).__name__}`")


def _text_of_bytes(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return base64.b64encode(value).decode("ascii")


def encode(body: dict[str, Any]) -> str:
    """Write JSON in ASCII, in which lone surrogates stay what they are. Raises `ValueError` or `TypeError`."""
    try:
        return json.dumps(body, allow_nan=False, separators=(",", ":"))
    except RecursionError:
        return "".join(_deep_parts(body))


def _deep_parts(root: Any) -> Iterator[str]:
    """Write a value that nests too deeply for `json.dumps`, without recursion."""
    # Texts to write, and values in a tuple. What is on top comes next.
    stack: list[Any] = [(root,)]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
            continue
        value = item[0]
        if isinstance(value, dict):
            stack.append("}")
            for at, (key, each) in reversed(list(enumerate(value.items()))):
                stack += [(each,), f"{',' if at else ''}{json.dumps(str(key))}:"]
            stack.append("{")
        elif isinstance(value, list):
            stack.append("]")
            for at, each in reversed(list(enumerate(value))):
                stack += [(each,), "," if at else ""]
            stack.append("[")
        else:
            yield json.dumps(value, allow_nan=False)


def restore(original: Any, plain: Any, changed: Any) -> Any:
    """Return the content to use in place of `original`, after its JSON form `plain` was changed to `changed`.

    Members of a mapping that were not changed keep their own values.
    """
    if isinstance(original, Mapping) and isinstance(plain, dict) and isinstance(changed, dict):
        names = {(key if isinstance(key, str) else _key_text(key)): key for key in original}
        return {
            names.get(name, name): original[names[name]] if name in plain and plain[name] == value else value
            for name, value in changed.items()
        }
    validate = getattr(type(original), "model_validate", None)
    if callable(validate) and isinstance(changed, dict):
        try:
            return validate(changed)
        except Exception:
            return changed
    return changed
