"""What a start loads: not what it does not use, and the vector index's process beside the program."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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


def test_a_process_beside_the_program_loads_what_the_vector_index_needs() -> None:
    worker = alone()
    try:
        worker.do(load, (VECTORS,), 1.0)
        assert worker.do(_has, ("chromadb",), 1.0) is True
        assert worker.do(_has, ("discord",), 1.0) is False
    finally:
        worker.let_go()


def _has(module: str) -> bool:
    return module in sys.modules
