"""What a start loads: not what it does not use, and the vector index's process beside the program."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

from bot.app.starting import VECTORS, load
from core.workers.process import alone

ROOT = Path(__file__).parents[2]
UNUSED = {
    *("alembic", "chromadb", "discord", "httpx", "jsonschema", "llama_index", "ollama", "openai"),
    *("onnxruntime", "rich", "sentence_transformers", "slack_bolt", "slack_sdk", "torch", "trio"),
}
"""Libraries that a start without tokens and without a model does not need before its first answer."""
PROGRAM = """
import sys
import bot.app.serve
from bot.ports import platforms
from core.settings import load_settings
for name in platforms.worth_loading(load_settings(None)):
    platforms.part(name, "platform")
print(*{name.partition(".")[0] for name in sys.modules})
"""


def test_the_program_loads_no_library_that_it_does_not_use(tmp_path: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(told.stdout.split())
    assert {"aiohttp", "sqlalchemy"} <= loaded, "it loads the program"
    assert not UNUSED & loaded


ARENAS = """
import ctypes, sys, threading
from bot.app.starting import few_arenas
if sys.argv[2:]:
    few_arenas()
meet = threading.Barrier(9)
def allocate():
    held = [bytes(2000) for _ in range(500)]
    meet.wait()
    meet.wait()
threads = [threading.Thread(target=allocate) for _ in range(8)]
for thread in threads:
    thread.start()
meet.wait()
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
told = libc.fopen(sys.argv[1].encode(), b"w")
libc.malloc_info(0, ctypes.c_void_p(told))
libc.fclose(ctypes.c_void_p(told))
meet.wait()
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has arenas")
def test_threads_share_two_arenas_of_memory(tmp_path: Path) -> None:
    def arenas(*limited: str) -> int:
        told = tmp_path / "malloc"
        command = [sys.executable, "-c", ARENAS, str(told), *limited]
        subprocess.run(command, env={"PYTHONPATH": str(ROOT)}, check=True)
        return told.read_text("utf-8").count("<heap nr=")

    assert arenas("limited") <= 2 < arenas()


FREED = """
from pathlib import Path
from bot.app.starting import give_back
def megabytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20
held = [bytes(2000) for _ in range(40_000)]
kept = held[::50]
del held
before = megabytes()
assert give_back()
print(before - megabytes())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc keeps it so")
def test_the_system_gets_back_what_lies_free_between_what_is_held() -> None:
    command = [sys.executable, "-c", FREED]
    told = subprocess.run(command, env={"PYTHONPATH": str(ROOT)}, check=True, capture_output=True, text=True)
    assert float(told.stdout) > 40


SERVES = """
import threading
from argparse import Namespace
from bot.app.starting import serve
from core.settings import load_settings
serve(load_settings(None), Namespace()).close()
print(*(thread.name for thread in threading.enumerate()))
"""


def test_what_serves_gives_memory_back_by_and_by(tmp_path: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-c", SERVES],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "memory-back" in told.stdout.split()


def test_a_process_beside_the_program_loads_what_the_vector_index_needs() -> None:
    worker = alone()
    try:
        worker.do(load, (VECTORS,), 1.0)
        assert worker.do(_has, ("chromadb",), 1.0) is True
        assert worker.do(_has, ("discord",), 1.0) is False
        assert worker.do(_has, ("rfc3987_syntax.syntax_helpers",), 1.0) is False
    finally:
        worker.let_go()


def _has(module: str) -> bool:
    return module in sys.modules
