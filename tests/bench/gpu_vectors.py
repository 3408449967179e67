"""Vectors a second on the processor and on a GPU, and whether they are the same.

    python -m tests.bench.gpu_vectors MODEL [--texts 4096]

MODEL is a folder with a sentence-transformers model. Needs `core`, numpy, tokenizers, onnxruntime, torch and
sentence-transformers, and nothing else of the project. Ends with 1 where a cosine is under .9999.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from core.models.embedding.encoder import load_encoder
from core.models.embedding.gpu import SAME_COSINE
from core.models.embedding.local import LocalEncoder
from core.ports import Encoder, Matrix

WORDS = "how to set the secret key of an application in `config.py` and read it from a `--debug` file".split()
AT_ONCE = 128
"""As many as the indexer embeds at once."""


async def main() -> int:
    """Embed the same texts on both; print rates and the least cosine."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("model")
    options.add_argument("--texts", type=int, default=4096)
    given = options.parse_args()
    chance = random.Random(1)
    texts = [" ".join(chance.choices(WORDS, k=chance.randint(5, 150))) for _ in range(given.texts)]
    texts.sort(key=len)
    with tempfile.TemporaryDirectory() as cache:
        slow = load_encoder(given.model, Path(cache), "cpu")
        fast = load_encoder(given.model, Path(cache), "cuda")
        assert isinstance(fast, LocalEncoder)
        print(f"cuda: documents are embedded {fast.place()}")
        ours, theirs = await _timed("cpu", slow, texts), await _timed("cuda", fast, texts)
        slow.close()
        fast.close()
    near = float((ours * theirs).sum(axis=1).min())
    print(f"least cosine {near:.6f} (at least {SAME_COSINE})")
    return int(near < SAME_COSINE)


async def _timed(name: str, encoder: Encoder, texts: list[str]) -> Matrix:
    await encoder.encode(texts[:AT_ONCE])
    began = time.perf_counter()
    parts = [await encoder.encode(texts[at : at + AT_ONCE]) for at in range(0, len(texts), AT_ONCE)]
    seconds = time.perf_counter() - began
    print(f"{name}: {len(texts) / seconds:.0f} vectors a second, {seconds:.1f} s")
    return np.concatenate(parts)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
