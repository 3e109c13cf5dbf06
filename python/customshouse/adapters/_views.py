"""Models of frameworks whose methods are guarded."""

from __future__ import annotations

from typing import Any


def view_with(original: Any, **members: Any) -> Any:
    """Return a view of an object, with the same state and of a subclass of its type, that has these members."""
    own = type(original)
    kind: Any = type(own.__name__, (own,), members)
    kind.is_customshouse_view = True
    view: Any = object.__new__(kind)
    # A model of pydantic has a part of its state in slots.
    for name in ("__dict__", "__pydantic_extra__", "__pydantic_fields_set__", "__pydantic_private__"):
        if hasattr(original, name):
            object.__setattr__(view, name, getattr(original, name))
    return view


def is_view(value: Any) -> bool:
    """Return whether `view_with` made the object."""
    return getattr(type(value), "is_customshouse_view", False)
