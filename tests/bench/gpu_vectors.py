"""Embedding many texts on a GPU, beside the processor: texts a second, and whether the vectors are the same.

    python -m tests.bench.gpu_vectors                      passages of the bench's home
    python -m tests.bench.gpu_vectors --texts FILE.jsonl   one JSON string a line

With --texts it needs no more than the encoder does, so that it runs on a machine with nothing else.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from core.errors import EncoderError
from core.models.embedding.encoder import PACKAGED, load_encoder
from core.models.embedding.gpu import SAME_COSINE
from core.models.embedding.local import LocalEncoder
from core.ports import Encoder, Matrix

HOME = Path(os.environ.get("THREADLORE_BENCH_HOME", ".threadlore/bench"))
PROCESSOR = 4_000
"""Texts that the processor embeds for its rate."""
TOKENS = 500
"""Texts whose tokens' vectors are compared."""
WARM = 512
ROUNDS = 3


async def main() -> None:
    """Embed on both, print rates and the least cosine."""
    options = argparse.ArgumentParser(prog="python -m tests.bench.gpu_vectors", description=__doc__)
    options.add_argument("--texts", type=Path, help="a file of JSON strings, one a line, .gz or not")
    options.add_argument("--model", default=PACKAGED)
    given = options.parse_args()
    texts = _read(given.texts) if given.texts else await _passages()
    models = HOME / "models"
    ours = load_encoder(given.model, models, "cpu")
    try:
        theirs = load_encoder(given.model, models, "cuda")
    except EncoderError as error:
        sys.exit(str(error))
    longest = max(ours.count_tokens(text) for text in texts)
    print(
        f"{len(texts)} texts, median {int(np.median([len(text) for text in texts]))} characters, longest "
        f"{longest} tokens; {given.model}; {_gpu()}; {os.cpu_count()} cores of {platform.machine()}"
    )
    few = texts[:: max(1, len(texts) // PROCESSOR)][:PROCESSOR]
    await theirs.encode(texts[:WARM])
    await ours.encode(few[:WARM])
    rates = []
    for _ in range(ROUNDS):
        took, vectors = await _timed(theirs, texts)
        rates.append(len(texts) / took)
    print(
        f"  on the GPU        {max(rates):8.0f} texts/s, {ROUNDS} rounds: {[round(rate) for rate in rates]}"
    )
    took, wanted = await _timed(ours, few)
    print(
        f"  on the processor  {len(few) / took:8.0f} texts/s, {max(rates) * took / len(few):.1f} times less"
    )
    place = dict(zip(texts, vectors, strict=True))
    least = float(min((place[text] * row).sum() for text, row in zip(few, wanted, strict=True)))
    tokens = await _tokens(ours, theirs, few[:TOKENS])
    for what, cosine in (("vectors", least), ("tokens' vectors", tokens)):
        verdict = "the same" if cosine >= SAME_COSINE else "NOT the same"
        print(f"  {what}: least cosine {cosine:.7f} ({verdict}, at least {SAME_COSINE})")
    ours.close()
    theirs.close()


def _read(file: Path) -> list[str]:
    data = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    return [json.loads(line) for line in data.decode("utf-8").splitlines()]


async def _passages() -> list[str]:
    from bot.app.bootstrap import build
    from core.settings import load_settings

    async with build(load_settings(home=HOME, ollama_host=""), "bench") as app:
        rows = [row for release in app.corpus_manager.order() for row in await app.corpora.rows(release)]
        pages = await app.corpora.contexts(list(dict.fromkeys(row.context_id for row in rows)))
    if not pages:
        sys.exit(f"Nothing is indexed in {HOME}: run `make bench` first, or name a file with --texts.")
    return [page.page for page in pages.values()]


async def _timed(encoder: Encoder, texts: Sequence[str]) -> tuple[float, Matrix]:
    began = time.perf_counter()
    found = await encoder.encode(texts)
    return time.perf_counter() - began, found


async def _tokens(ours: Encoder, theirs: Encoder, texts: Sequence[str]) -> float:
    """Return the least cosine between the vectors of a token, over all tokens of the texts."""
    assert isinstance(ours, LocalEncoder) and isinstance(theirs, LocalEncoder)
    _, mine = await ours.encode_tokens(texts)
    _, other = await theirs.encode_tokens(texts)
    return float(min((a * b).sum(axis=1).min() for a, b in zip(mine, other, strict=True) if len(a)))


def _gpu() -> str:
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU"


if __name__ == "__main__":
    asyncio.run(main())
