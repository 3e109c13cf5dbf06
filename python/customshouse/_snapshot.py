"""The snapshot of the engine: the heap of V8 after it ran the script, so that the next start need not run it again.

It is kept as Python keeps its bytecode: in `__pycache__` next to the script, and only where Python may write there.
So a user who can change a snapshot can also change the package.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

CHECKSUM_BYTES = 4
PREFIX = "core-"


def open_snapshot(script: Path, library: Path, build: Callable[[], bytes]) -> bytes | None:
    """Return the snapshot of a script in an engine. It is built and written first if there is none.

    `library` is the file of the engine: V8 ends the process if another build of it wrote the snapshot. Return `None`
    where nothing may be written.
    """
    path = script.parent / "__pycache__" / f"{PREFIX}{_identify(script, library)}.snapshot"
    found = _read(path)
    if found is not None or sys.dont_write_bytecode or not os.access(script.parent, os.W_OK):
        return found
    made = build()
    with contextlib.suppress(OSError):
        _write(path, made)
    return made


def _identify(script: Path, library: Path) -> str:
    # V8 was built for one kind of machine; the system may have been moved to another one.
    parts = [os.uname().machine]
    for file in (script, library):
        stat = file.stat()
        parts += [str(file), str(stat.st_size), str(stat.st_mtime_ns)]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "backslashreplace")).hexdigest()[:32]


def _read(path: Path) -> bytes | None:
    """Return the snapshot of a file; `None` if there is none, or it is not whole."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    content = data[CHECKSUM_BYTES:]
    return content if data[:CHECKSUM_BYTES] == _checksum(content) else None


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    # Snapshots of earlier versions are of no use.
    for old in path.parent.glob(f"{PREFIX}*.snapshot"):
        old.unlink(missing_ok=True)
    written = path.with_name(f"{path.name}.{os.getpid()}")
    with open(written, "wb") as file:
        file.write(_checksum(content) + content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(written, path)


def _checksum(content: bytes) -> bytes:
    return zlib.crc32(content).to_bytes(CHECKSUM_BYTES, "big")
