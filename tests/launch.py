"""`threadlore` as a program that others start, forked as `tests.forked` does it: a start saves two seconds.

    python -S tests/launch.py SOCKET ARGUMENT...    # SOCKET is where what forks listens

It stands for its child: it hands on its files and environment, signals, and how it ended. What forks ends the
child where this is killed.
"""

import json
import os
import signal
import socket
import sys
from types import FrameType


def main() -> int:
    """Have the child forked, and return how it ended."""
    place, *arguments = sys.argv[1:]
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.connect(place)
    read, write = os.pipe()
    os.umask(mask := os.umask(0))
    request = {"arguments": arguments, "environment": dict(os.environ), "cwd": os.getcwd(), "umask": mask}
    socket.send_fds(connection, [json.dumps(request).encode()], [0, 1, 2, write])
    os.close(write)
    child = int(connection.recv(64))

    def hand_on(number: int, _: FrameType | None) -> None:
        os.kill(child, number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, hand_on)
    code = int(os.read(read, 64) or b"-9")
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
