"""The place of the journals of guards that name none: one file per guard, in a folder of the user."""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
import tempfile
import time

from ._names import PACKAGE_NAME

JOURNALS_MAX = 100
JOURNALS_BYTES_MAX = 1_073_741_824
KEPT_SECONDS = 86_400
"""Older journals are deleted when there are more, or when they are larger together. Those of the last day are kept."""
CLEANED_SECONDS = 3_600
"""A process looks for old journals once in this time, because a program may make a guard for each conversation."""
_cleaned: dict[str, float] = {}


def create_journal_path() -> str:
    """Return the path of a new journal, and delete old ones.

    The folder is `customshouse` in `$XDG_STATE_HOME`, by default `~/.local/state`, and in `%LOCALAPPDATA%` on Windows. If it
    cannot be written, it is a new folder for temporary files.
    """
    date = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    return os.path.join(_open_folder(), f"{date}-{os.getpid()}-{secrets.token_hex(4)}.jsonl")


def _open_folder() -> str:
    try:
        folder = os.path.join(_state_folder(), PACKAGE_NAME)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError(folder)
        if time.monotonic() - _cleaned.get(folder, -CLEANED_SECONDS) >= CLEANED_SECONDS:
            _delete_old(folder)
            _cleaned[folder] = time.monotonic()
        return folder
    except OSError:
        return tempfile.mkdtemp(prefix=f"{PACKAGE_NAME}-")


def _state_folder() -> str:
    named = os.environ.get("XDG_STATE_HOME", "")
    if os.path.isabs(named):
        return named
    local = os.environ.get("LOCALAPPDATA", "")
    if sys.platform == "win32" and os.path.isabs(local):
        return local
    home = os.path.expanduser("~")
    if not os.path.isabs(home):
        raise FileNotFoundError("The user has no home.")
    return os.path.join(home, ".local", "state")


def _delete_old(folder: str) -> None:
    with os.scandir(folder) as entries:
        found = [(each.stat(follow_symlinks=False), each.path) for each in entries if ".jsonl" in each.name]
    size = 0
    for place, (stat, path) in enumerate(sorted(found, key=lambda each: -each[0].st_mtime)):
        size += stat.st_size
        is_old = time.time() - stat.st_mtime > KEPT_SECONDS
        if is_old and (place >= JOURNALS_MAX or size > JOURNALS_BYTES_MAX):
            # Another process may delete the same one.
            with contextlib.suppress(OSError):
                os.unlink(path)
