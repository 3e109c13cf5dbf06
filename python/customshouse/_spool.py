"""The spool of a local guard: decisions that no service has confirmed, in memory and in a folder.

The files have the form that the TypeScript SDK has, so that programs of both languages may share a folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from .errors import CustomshouseError

SEGMENT_BYTES_MAX = 1_048_576
REFUSED_BYTES_MAX = 1_048_576
REFUSED_FILE = "refused.jsonl"
# The files of a process that has not touched them for this time are those of a dead one.
ABANDONED_SECONDS = 120.0
# The host, the process, a random part, and the number of the file.
SEGMENT = re.compile(r"([0-9a-f]{8})-(\d{1,10})-([0-9a-f]{16})-\d{1,10}\.jsonl")
STARTED = time.time()


class SpoolFullError(CustomshouseError):
    """The folder is full."""


@dataclass(eq=False, slots=True)
class _Segment:
    path: str
    # -1 if no more lines are written to it.
    file: int
    size: int = 0
    unconfirmed: int = 0


@dataclass(frozen=True, slots=True)
class SpooledLine:
    """A line that no service has confirmed, and its size in bytes with the newline."""

    line: str
    size: int
    segment: _Segment


class Spool:
    """The unconfirmed decisions of one process, in a folder that several processes may share.

    Each line is handed to the operating system before `append` returns, so that the death of the process loses none.
    """

    def __init__(self, folder: str, bytes_max: int) -> None:
        _make_folder(folder)
        self._folder = folder
        self._bytes_max = bytes_max
        self._host = hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]
        self._lock = threading.RLock()
        self._active: _Segment | None = None
        self._queue_bytes = 0
        self._others_bytes = 0
        self._begin()
        self._measure_others()

    def append(self, line: str) -> None:
        """Write a line to the folder and add it to the queue. Raises `SpoolFullError` or `OSError`."""
        data = line.encode("utf-8", "backslashreplace") + b"\n"
        with self._lock:
            if self._pid != os.getpid():
                # The lines before the fork belong to the parent, which sends them.
                self._begin()
            if self._queue_bytes + self._others_bytes + len(data) > self._bytes_max:
                raise SpoolFullError(
                    f"The spool has {self._bytes_max} bytes, and the service confirms no decision. Check the service."
                )
            active = self._active
            if active is not None and active.size + len(data) > SEGMENT_BYTES_MAX:
                os.close(active.file)
                active.file = -1
                active = None
            if active is None:
                path = self._next_path()
                active = _Segment(path, os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600))
                self._segments.append(active)
                self._active = active
            written = os.write(active.file, data)
            active.size += written
            # A reader skips the rest of a line after a full disk.
            if written != len(data):
                raise OSError("The spool could not be written in full.")
            self._push(active, line, len(data))

    def peek(self, lines_max: int, bytes_max: int) -> list[SpooledLine]:
        """Return the first lines of the queue, and at least one if there is one."""
        found: list[SpooledLine] = []
        size = 0
        with self._lock:
            for each in islice(self._queue, lines_max):
                size += each.size
                if found and size > bytes_max:
                    break
                found.append(each)
        return found

    def confirm(self, lines: Sequence[SpooledLine]) -> None:
        """Remove the first lines of the queue, which a service has confirmed or refused."""
        with self._lock:
            for each in lines:
                self._queue.popleft()
                self._queue_bytes -= each.size
                each.segment.unconfirmed -= 1
                if each.segment.unconfirmed == 0:
                    self._clear(each.segment)

    def set_aside(self, line: str) -> None:
        """Keep a line that the service refused, up to 1 MiB in all."""
        path = os.path.join(self._folder, REFUSED_FILE)
        data = line.encode("utf-8", "backslashreplace") + b"\n"
        if _size_of(path) + len(data) > REFUSED_BYTES_MAX:
            return
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, data)
        finally:
            os.close(file)

    def adopt(self) -> bool:
        """Add the lines of one process that has died to the queue. Return whether there was one."""
        with self._lock:
            adopted = False
            for name in self._list_others():
                if not self._is_abandoned(name):
                    continue
                path = self._next_path()
                try:
                    # Only one process can make this rename.
                    os.rename(os.path.join(self._folder, name), path)
                    with open(path, encoding="utf-8", errors="replace") as file:
                        lines = [each for each in file.read().split("\n") if _is_whole(each)]
                except OSError:
                    continue
                segment = _Segment(path, -1)
                self._segments.append(segment)
                for line in lines:
                    self._push(segment, line, len(line.encode("utf-8", "backslashreplace")) + 1)
                if not lines:
                    self._remove(segment)
                adopted = True
                break
            self._measure_others()
            return adopted

    def touch(self) -> None:
        """Mark the files as those of a process that is alive."""
        with self._lock:
            for segment in self._segments:
                with contextlib.suppress(OSError):
                    os.utime(segment.path)

    def __len__(self) -> int:
        return len(self._queue)

    def close(self) -> None:
        """Make the rest durable, and remove files without a line. The next line opens a new file."""
        with self._lock:
            if self._pid != os.getpid():
                return
            for segment in list(self._segments):
                if segment.unconfirmed == 0:
                    self._remove(segment)
                elif segment.file >= 0:
                    os.fsync(segment.file)
                    os.close(segment.file)
                    segment.file = -1
            self._active = None

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._own = secrets.token_hex(8)
        self._files = 0
        self._segments: list[_Segment] = []
        self._active = None
        self._queue: deque[SpooledLine] = deque()
        self._queue_bytes = 0
        self._others_bytes = 0

    def _next_path(self) -> str:
        self._files += 1
        return os.path.join(self._folder, f"{self._host}-{self._pid}-{self._own}-{self._files}.jsonl")

    def _push(self, segment: _Segment, line: str, size: int) -> None:
        self._queue.append(SpooledLine(line, size, segment))
        self._queue_bytes += size
        segment.unconfirmed += 1

    def _clear(self, segment: _Segment) -> None:
        if segment is not self._active or segment.file < 0:
            self._remove(segment)
            return
        os.ftruncate(segment.file, 0)
        segment.size = 0

    def _remove(self, segment: _Segment) -> None:
        if segment.file >= 0:
            os.close(segment.file)
            segment.file = -1
        self._segments.remove(segment)
        if segment is self._active:
            self._active = None
        with contextlib.suppress(FileNotFoundError):
            os.remove(segment.path)

    def _list_others(self) -> list[str]:
        names = os.listdir(self._folder)
        matches = [(name, SEGMENT.fullmatch(name)) for name in names]
        return sorted(name for name, match in matches if match is not None and match[3] != self._own)

    def _measure_others(self) -> None:
        self._others_bytes = sum(_size_of(os.path.join(self._folder, name)) for name in self._list_others())

    def _is_abandoned(self, name: str) -> bool:
        match = SEGMENT.fullmatch(name)
        try:
            modified = os.stat(os.path.join(self._folder, name)).st_mtime
        except OSError:
            return False
        if match is None or time.time() - modified > ABANDONED_SECONDS:
            return match is not None
        if match[1] != self._host:
            return False
        pid = int(match[2])
        if pid == os.getpid():
            # A container gives each start the same number. Other guards of this process have files of their own.
            return modified < STARTED
        return not _is_alive(pid)


def _make_folder(folder: str) -> None:
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        found = os.stat(folder)
    except OSError:
        raise CustomshouseError(
            f"The spool folder {folder} cannot be created. Name another one in `spool_folder`."
        ) from None
    if sys.platform != "win32" and (found.st_uid != os.getuid() or found.st_mode & 0o022):
        raise CustomshouseError(f"The spool folder {folder} may be written by others. Make it your own, mode 0700.")


def _is_alive(pid: int) -> bool:
    # On Windows the signal 0 would end the process.
    if sys.platform == "win32":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _is_whole(line: str) -> bool:
    """Return whether a line was written in full. The decision of a part of a line was never given."""
    try:
        value = json.loads(line)
    except ValueError:
        return False
    return isinstance(value, dict) and isinstance(value.get("event_id"), str)


def _size_of(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
