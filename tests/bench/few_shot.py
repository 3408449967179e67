"""`python -m tests.bench.few_shot`: the attribute predictor's few-shot form beside its SVM, on Ollama's wire.

The loopback server plays a model that labels each sample rightly but for a share of errors, and says neither
for another share. So accuracy, F1 and calls show what five samples and a majority make of samples that are
so often wrong, and the time what the wire costs; how often a real model is wrong, and how long it takes, only
that model shows (`threadlore train-attributes FILE --model`).
"""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from core.models.embedding.encoder import Encoders
from core.models.ollama.client import Ollama
from core.query.attributes import ENCODER, shipped
from evaluation.tuning.attributes import labelled, measured
from evaluation.tuning.sampled import sampled
from tests.ollama_answers import Recorded
from tests.ollama_server import OllamaServer

SHARES = ((0.0, 0.0), (0.1, 0.0), (0.2, 0.0), (0.3, 0.0), (0.4, 0.0), (0.1, 0.3), (0.0, 1.0))
"""Of samples that are wrong, and of those that say neither."""
KINDS = ("static", "dynamic")


def played(labels: Mapping[str, int], wrong: float, neither: float) -> Callable[[Recorded], str]:
    """Return what a played model says to a prompt: the label of its question, but for these shares."""
    chance = random.Random(0)

    def say(request: Recorded) -> str:
        told = request.body["messages"][-1]["content"]
        question = told.partition("<question>\n")[2].partition("\n</question>")[0]
        if chance.random() < neither:
            return "It depends on the project."
        return KINDS[labels[question] ^ (chance.random() < wrong)]

    return say


async def _main() -> None:
    questions, labels = labelled()
    with tempfile.TemporaryDirectory() as cache:
        encoders = Encoders(ENCODER, Path(cache))
        vectors = await (await encoders.current()).encode(questions)
        encoders.close()
    accuracy, f1 = measured(vectors, labels)
    began = time.perf_counter()
    for vector in vectors:
        shipped().is_dynamic(vector)
    spent = (time.perf_counter() - began) / len(questions)
    print(f"SVM, ten folds, {len(questions)} questions: accuracy {accuracy:.3f}, F1 {f1:.3f}; {spent:.2g} s")
    known = dict(zip(questions, map(int, labels), strict=True))
    for wrong, neither in SHARES:
        async with OllamaServer(answer=played(known, wrong, neither)) as server:
            model = Ollama(server.url, server.model)
            told = await sampled(model, questions, labels)
            await model.close()
        print(f"samples wrong {wrong:.1f}, neither {neither:.1f}: {told.line}")


if __name__ == "__main__":
    asyncio.run(_main())
