"""Where Hugging Face's server is away, a model that is not here is told at once."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

from core.models.hub import answers, only_here
from tests.core.ingestion_sources.site_server import Site, status
from tests.patience import PATIENCE, SOON

SLIP = """
import time
import sentence_transformers, torch
from pathlib import Path
from core.errors import EncoderError
from core.models.embedding.encoder import load_encoder
began = time.monotonic()
try:
    load_encoder("all-minilm-l6", Path("models"))
except EncoderError as error:
    print(time.monotonic() - began, error)
"""


def nobody() -> str:
    """Return an address where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"http://127.0.0.1:{server.getsockname()[1]}"


def test_a_server_answers_whatever_it_says_and_a_folder_asks_none(tmp_path: Path) -> None:
    with Site({"/": status(503)}) as site:
        assert answers(f"{site.url}/")
    assert not answers(nobody()) and not answers("no address")
    assert only_here(str(tmp_path))


def test_a_mistyped_embedding_model_is_told_soon_without_a_network(tmp_path: Path) -> None:
    variables = {name: value for name, value in os.environ.items() if not name.startswith("HF_")} | {
        "HF_ENDPOINT": nobody(),
        "HF_HOME": str(tmp_path),
        "PYTHONPATH": str(Path(__file__).parents[3]),
    }
    ended = subprocess.run(
        [sys.executable, "-c", SLIP],
        env=variables,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=10 * PATIENCE,
        check=True,
    )
    took, _, said = ended.stdout.partition(" ")
    assert "'all-minilm-l6' cannot be loaded" in said and "Set EMBEDDING_MODEL" in said
    assert float(took) < SOON, "its libraries try for more than a minute"
