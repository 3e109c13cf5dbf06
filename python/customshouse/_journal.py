"""The journal of a local guard: JSON lines, one event each."""

from __future__ import annotations

import os
import threading

from ._journal_folder import create_journal_path

JOURNAL_BYTES_MAX = 104_857_600


class Journal:
    """Appends lines to a file that only its owner can read.

    Each line is handed to the operating system before `write` returns, so that nothing is lost when the process ends.
    """

    def __init__(self, path: str | os.PathLike[str] | None, bytes_max: int = JOURNAL_BYTES_MAX) -> None:
        self.path = create_journal_path() if path is None else os.path.abspath(os.fspath(path))
        self._bytes_max = bytes_max
        self._lock = threading.Lock()
        self._file = -1
        self._size = 0
        # A file that the caller named shows its faults at once. A program that decides nothing leaves no other.
        if path is not None:
            self._open()

    def write(self, line: str) -> None:
        """Append one line. Raises `OSError` if it cannot be written in full."""
        data = line.encode("utf-8", "backslashreplace") + b"\n"
        with self._lock:
            if self._file < 0:
                self._open()
            if self._size > 0 and self._size + len(data) > self._bytes_max:
                self._rotate()
            if os.write(self._file, data) != len(data):
                raise OSError("The journal could not be written in full.")
            self._size += len(data)

    def close(self) -> None:
        """Close the file. The next line opens it again."""
        with self._lock:
            self._shut()

    def _open(self) -> None:
        self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._size = os.fstat(self._file).st_size

    def _shut(self) -> None:
        file, self._file = self._file, -1
        if file >= 0:
            os.fsync(file)
            os.close(file)

    def _rotate(self) -> None:
        self._shut()
        number = 1
        while os.path.exists(f"{self.path}.{number}"):
            number += 1
        os.rename(self.path, f"{self.path}.{number}")
        self._open()
