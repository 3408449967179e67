"""Chroma's own server as a process on this machine, for tests."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

START_SECONDS = 60.0


@contextmanager
def chroma_server(folder: Path) -> Iterator[str]:
    """Run `chroma run` on a free port with its data in `folder`; yields its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = Path(sys.executable).with_name("chroma")
    with (folder.parent / f"{folder.name}.log").open("ab") as log:
        process = subprocess.Popen(
            [program, "run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(port)],
            stdout=log,
            stderr=log,
            env=os.environ | {"ANONYMIZED_TELEMETRY": "False"},
        )
    try:
        _wait(process, port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(process: subprocess.Popen[bytes], port: int) -> None:
    until = time.monotonic() + START_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            assert process.poll() is None, f"chroma run ended with {process.returncode}"
            assert time.monotonic() < until, "chroma run does not listen"
            time.sleep(0.05)
