"""Memory's thresholds are carried over to an embedder that nobody calibrated."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from core.errors import EncoderError
from core.memory.calibrated import Calibrated
from core.memory.carried_over import FILE, KEPT, carried_over, measured, moved_to
from core.memory.decision import LEARNED
from core.memory.scoring import Thresholds
from core.models.embedding.encoder import PACKAGED, load_encoder
from core.ports import Encoder, Matrix
from tests.fakes import FakeEncoder

DEFAULTS = Thresholds()


class Changed(FakeEncoder):
    """MiniLM with its vectors changed."""

    def __init__(self, inner: Encoder, change: Callable[[Matrix], Matrix]) -> None:
        super().__init__("changed@256")
        self._inner = inner
        self._change = change
        self.asked = 0

    async def encode(self, texts: Sequence[str]) -> Matrix:
        self.asked += len(texts)
        rows = self._change(await self._inner.encode(texts))
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


@pytest.fixture(scope="module")
def minilm(encoder_cache: Path) -> Encoder:
    return load_encoder(PACKAGED, encoder_cache)


async def test_the_shipped_cosines_are_minilms_own_so_that_its_thresholds_stay(minilm: Encoder) -> None:
    made = await measured(minilm)
    found = (made.delta, made.tau, made.reach, made.far)
    wanted = (DEFAULTS.delta, DEFAULTS.tau, LEARNED.reach, LEARNED.far)
    assert found == pytest.approx(wanted, abs=0.002)


@pytest.mark.parametrize("far", [0.5, 3.0])
async def test_an_embedder_whose_texts_are_all_near_has_its_thresholds_higher(
    minilm: Encoder, far: float
) -> None:
    made = await measured(Changed(minilm, lambda rows: np.hstack([rows, np.full((len(rows), 1), far)])))
    for found, value in ((made.reach, LEARNED.reach), (made.tau, DEFAULTS.tau), (made.delta, DEFAULTS.delta)):
        assert found == pytest.approx((value + far**2) / (1 + far**2), abs=0.005)


async def test_it_is_measured_once_for_each_encoder_and_again_where_its_file_is_torn(
    minilm: Encoder, tmp_path: Path
) -> None:
    encoder = Changed(minilm, lambda rows: rows[:, :128])
    made = await carried_over(encoder, tmp_path)
    asked = encoder.asked
    assert asked == len(json.loads(FILE.read_text("utf-8"))["texts"])
    assert await carried_over(encoder, tmp_path) == made and encoder.asked == asked
    (tmp_path / KEPT).write_text("[" * 5000, "utf-8")
    again = await carried_over(encoder, tmp_path)
    assert again is not None and made is not None and again.reach == made.reach
    encoder.name = "changed@128"
    await carried_over(encoder, tmp_path)
    assert encoder.asked == 3 * asked, "another version is measured again"


async def test_an_embedder_that_fails_leaves_the_shipped_ones(tmp_path: Path) -> None:
    class Away(FakeEncoder):
        async def encode(self, texts: Sequence[str]) -> Matrix:
            raise EncoderError("it is away")

    assert await carried_over(Away(), tmp_path) is None and not (tmp_path / KEPT).exists()


NO_SHARES = [
    json.dumps({"fake@256": asdict(Calibrated("fake@256", delta, 0.5, 0.0, 0.0, "made.json", 1.0, 0.5, far))})
    for delta, far in (("x", 0.5), (0.5, "x"))
]


@pytest.mark.parametrize(
    "kept", ["[]", "null", "{", '{"fake@256": []}', '{"fake@256": {"delta": 0.5}}', *NO_SHARES]
)
async def test_whatever_is_kept_it_is_measured_and_kept_anew_where_it_cannot_be_read(
    kept: str, tmp_path: Path
) -> None:
    (tmp_path / KEPT).write_text(kept, "utf-8")
    made = await carried_over(FakeEncoder(), tmp_path)
    assert made is not None and (made.encoder, made.precision, made.recall) == ("fake@256", 0.0, 0.0)
    again = json.loads((tmp_path / KEPT).read_text("utf-8"))
    assert again == {"fake@256": asdict(made)} and await carried_over(FakeEncoder(), tmp_path) == made


def test_a_threshold_keeps_its_share_of_pairs_and_stays_a_cosine() -> None:
    theirs, ours = np.array([0.1, 0.2, 0.3, 0.4]), np.array([-0.9, 0.5, 0.7, 0.8])
    assert moved_to(0.3, theirs, ours) == 0.7
    assert moved_to(0.25, theirs, ours) == pytest.approx(0.6)
    assert moved_to(0.0, theirs, ours) == 0.0 and moved_to(1.0, theirs, ours) == 0.8
