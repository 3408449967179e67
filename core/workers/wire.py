"""What travels between this process and a worker: pickles in pieces, within a limit of time and of size."""

from __future__ import annotations

import io
import pickle
import socket
import time
from typing import Any

MEMORY_OVER = 77
"""Exit status of a worker that ran out of its memory."""
BEGUN, DONE, FAILED = "begun", "done", "failed"
"""What a worker says: that it has the work, then what came of it."""
_BUFFER = 256 * 1024


class Wire(io.RawIOBase):
    """One end of a connection, over which objects go; at most `most` bytes of each come in, 0 for any number.

    Reading and writing let other threads run, so that a large object holds nobody up: pickle takes and gives
    64 KB at a time.
    """

    def __init__(self, connection: socket.socket, most: int = 0) -> None:
        self._connection, self._most, self._taken = connection, most, 0
        self._deadline = 0.0
        self._reader = io.BufferedReader(self, _BUFFER)

    def send(self, thing: object, seconds: float = 0.0) -> None:
        """Send an object; raises OSError where nobody listens (TimeoutError in time), and what pickle raises.

        With 0 `seconds` there is no limit of time.
        """
        self._begin(seconds)
        pickle.dump(thing, self, pickle.HIGHEST_PROTOCOL)

    def receive(self, seconds: float = 0.0) -> Any:
        """Return the next object; raises EOFError, TimeoutError, and OverflowError where it is too large."""
        self._begin(seconds)
        return pickle.load(self._reader)

    def shut(self) -> None:
        """Close the connection."""
        self._connection.close()

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what there is."""
        self._in_time()
        count = self._connection.recv_into(buffer)
        self._taken += count
        if self._most and self._taken > self._most:
            raise OverflowError
        return count

    def write(self, data: Any) -> int:
        """Write all of it."""
        self._in_time()
        view = memoryview(data)  # of an array it is no bytes
        self._connection.sendall(view)
        return view.nbytes

    def _begin(self, seconds: float) -> None:
        self._deadline = time.monotonic() + seconds if seconds else 0.0
        self._taken = 0

    def _in_time(self) -> None:
        if not self._deadline:
            self._connection.settimeout(None)
            return
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
