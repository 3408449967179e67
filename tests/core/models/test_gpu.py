"""Where many texts are embedded."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.errors import EncoderError
from core.models.embedding.encoder import PACKAGED, _original, load_encoder
from core.models.embedding.gpu import AT_ONCE, SAME_COSINE, OnGpu, wanted
from core.models.embedding.local import BATCH, BATCHES, GPU_BATCH, LocalEncoder
from core.models.embedding.prefixes import prefixed
from core.models.embedding.runs import FileTokens, TorchRun
from core.ports import Matrix, texts_at_once
from tests.effort import thorough
from tests.patience import PATIENCE

if TYPE_CHECKING:
    import torch  # two seconds, in each process that lists tests


class Fixed:
    """Gives every text, and both of its tokens, one vector."""

    def __init__(self, *vector: float) -> None:
        self._vector = np.array(vector, np.float32)

    def __call__(self, texts: list[str]) -> Matrix:
        return np.tile(self._vector, (len(texts), 1))

    def with_tokens(self, texts: list[str]) -> tuple[Matrix, list[Matrix]]:
        return self(texts), [np.tile(self._vector, (2, 1)) for _ in texts]


ours = Fixed(1.0, 0.0)


class Gpu(Fixed):
    """Gives vectors that are `off` by a little, and counts its texts."""

    def __init__(self, off: float = 0.0, failure: str = "") -> None:
        super().__init__(1.0 - off, off)
        self.failure, self.texts, self.opened = failure, 0, 0

    def open(self):  # type: ignore[no-untyped-def]
        self.opened += 1
        if self.failure:
            raise RuntimeError(self.failure)
        return self

    def __call__(self, texts: list[str]) -> Matrix:
        self.texts += len(texts)
        return super().__call__(texts)


def encoder(gpu: Gpu) -> LocalEncoder:
    return LocalEncoder("m@8", 2, 8, ours, len, OnGpu(ours, gpu.open))


async def test_many_texts_go_to_the_gpu_and_questions_to_the_processor() -> None:
    gpu = Gpu()
    made = encoder(gpu)
    await made.encode(["How?"])
    assert gpu.opened == 0, "nothing is loaded for a question"
    texts = [f"text {number}" for number in range(3 * BATCH)]
    assert (await made.encode(texts)).shape == (len(texts), 2)
    assert gpu.texts >= len(texts) and gpu.opened == 1 and made.place() == "on the GPU"
    before = gpu.texts
    vectors, tokens = await made.encode_tokens(texts)
    assert gpu.texts == before + len(texts) and [one.shape for one in tokens] == [(2, 2)] * len(texts)
    assert np.array_equal(vectors, ours(texts)) and gpu.opened == 1
    made.close()


@pytest.mark.parametrize(
    ("gpu", "why"),
    [(Gpu(off=0.1), "not the processor's"), (Gpu(failure="out of memory\nand more"), "out of memory")],
)
async def test_a_gpu_that_fails_or_gives_other_vectors_is_not_used(gpu: Gpu, why: str) -> None:
    made = encoder(gpu)
    texts = [f"text {number}" for number in range(3 * BATCH)]
    assert np.array_equal(await made.encode(texts), ours(texts))
    before = gpu.texts
    await made.encode(texts)
    assert (gpu.texts, gpu.opened) == (before, 1), "it is tried once"
    assert why in made.place() and "\n" not in made.place()
    made.close()


async def test_the_processor_works_in_small_batches_on_all_its_cores_where_a_gpu_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    both, sizes = threading.Barrier(2, timeout=PATIENCE), []

    class Ours(Fixed):
        def __call__(self, texts: list[str]) -> Matrix:
            if len(texts) == BATCH:
                sizes.append(len(texts))
                both.wait()
            return super().__call__(texts)

    run = Ours(1.0, 0.0)
    made = LocalEncoder("m@8", 2, 8, run, len, OnGpu(run, Gpu(failure="no driver").open))
    await made.encode([f"text {number}" for number in range(4 * BATCH)])
    assert sizes == [BATCH] * 4
    made.close()


class Transformer:
    """A model of sentence-transformers that counts how many batches it computes at once."""

    device, prompts, default_prompt_name = "cpu", {"document": "passage: "}, "document"

    def __init__(self) -> None:
        self.inside, self.most, self.lock = 0, 0, threading.Lock()
        self.read: list[str] = []

    def eval(self):  # type: ignore[no-untyped-def]
        return self

    def preprocess(self, texts: list[str], prompt: str | None) -> dict[str, object]:
        import torch

        self.read += [f"{prompt}{text}" for text in texts]
        return {"input_ids": torch.ones((len(texts), 3)), "modality": "text"}

    def __call__(self, given: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        with self.lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        time.sleep(0.01)
        with self.lock:
            self.inside -= 1
        return {"sentence_embedding": given["input_ids"] * 2}


def test_torch_computes_few_batches_at_once_and_puts_a_models_own_prompt() -> None:
    model = Transformer()
    run = TorchRun(model, at_once=AT_ONCE)
    with ThreadPoolExecutor(4 * AT_ONCE) as threads:
        found = list(threads.map(run, [["one", "two"]] * 40))
    assert 1 < model.most <= AT_ONCE
    assert np.allclose(found[0], 3**-0.5) and found[0].shape == (2, 3)
    assert model.read[:2] == ["passage: one", "passage: two"]


@pytest.mark.parametrize(
    "by_file", [True, pytest.param(False, marks=thorough("test_torch_gives_the_vectors_of_onnx_runtime"))]
)
async def test_torch_gives_the_vectors_of_onnx_runtime(encoder_cache: Path, by_file: bool) -> None:
    texts = ["ja", "How do I run it?", "one two three " * 90, "", "`app.run(debug=True)` in 3.1"] * 4
    exported = load_encoder(PACKAGED, encoder_cache)
    assert isinstance(exported, LocalEncoder)
    wanted_vectors, wanted_tokens = await exported.encode_tokens(texts)
    transformer = _original(PACKAGED)
    transformer.max_seq_length = exported.max_tokens
    (folder,) = (
        file.parent
        for file in encoder_cache.glob("*/encoder.json")
        if json.loads(file.read_text())["name"] == exported.name
    )
    facts = json.loads((folder / "encoder.json").read_text())
    run = TorchRun(transformer, FileTokens(facts, folder) if by_file else None)
    vectors, tokens = run.with_tokens(texts)
    assert vectors.dtype == np.float32 and (vectors * wanted_vectors).sum(axis=1).min() >= SAME_COSINE
    assert [len(one) for one in tokens] == [len(one) for one in wanted_tokens]
    assert all(
        (one * other).sum(axis=1).min() >= SAME_COSINE
        for one, other in zip(tokens, wanted_tokens, strict=True)
        if len(one)
    )
    exported.close()


def test_a_gpu_that_is_insisted_on_must_be_there(encoder_cache: Path) -> None:
    import torch

    assert wanted("cuda") and not wanted("cpu")
    if torch.cuda.is_available():
        load_encoder(PACKAGED, encoder_cache, "cuda").close()
        return
    with pytest.raises(EncoderError, match="EMBEDDING_DEVICE is cuda, but the GPU cannot be used"):
        load_encoder(PACKAGED, encoder_cache, "cuda")


async def test_a_core_is_spared_and_the_vectors_stay_the_same(encoder_cache: Path) -> None:
    whole, most = load_encoder(PACKAGED, encoder_cache), load_encoder(PACKAGED, encoder_cache, "cpu", 1)
    texts = [f"text number {number} of many" for number in range(2 * BATCH)]
    assert np.array_equal(await whole.encode(texts), await most.encode(texts))
    whole.close()
    most.close()


def test_an_encoder_says_how_many_texts_keep_it_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 16)
    broken = Gpu(failure="no driver")
    for made, most in (
        (LocalEncoder("m@8", 2, 8, ours, len), BATCHES * BATCH * 16),
        (LocalEncoder("m@8", 2, 8, ours, len, spare=1), BATCHES * BATCH * 15),
    ):
        assert texts_at_once(made, 128) == most
        made.close()
    made = encoder(Gpu())
    assert texts_at_once(made, 128) == BATCHES * BATCH * 16, "nobody knows yet whether it works"
    assert made.place() == "on the GPU" and texts_at_once(made, 128) == BATCHES * GPU_BATCH * AT_ONCE
    made.close()
    made = encoder(broken)
    assert made.place().startswith("on the processor") and made.at_once == BATCHES * BATCH * 16
    assert texts_at_once(prefixed("intfloat/e5-small-v2", made), 128) == made.at_once
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    assert texts_at_once(LocalEncoder("m@8", 2, 8, ours, len), 128) == 128
    made.close()


async def test_what_a_gpu_fails_at_later_the_processor_does() -> None:
    class Small(Gpu):
        def __call__(self, texts: list[str]) -> Matrix:
            if len(texts) > BATCH:
                raise RuntimeError("out of memory")
            return super().__call__(texts)

    made = encoder(Small())
    texts = [f"text {number}" for number in range(3 * BATCH)]
    assert np.array_equal(await made.encode(texts), ours(texts)) and made.place() == "on the GPU"
    made.close()
