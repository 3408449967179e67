"""The cross-encoder behind the `Reranker` port: the real class on a tiny model made here, offline."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from core.errors import EncoderError
from core.models.reranker import PACKAGED, WAITING, load_reranker

WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    *["how", "do", "i", "set", "the", "timer", "filter", "lid", "oil", "to"],
]


def _tiny(folder: Path, outputs: int = 1) -> str:
    """Write a cross-encoder of two layers with random weights."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    torch.manual_seed(7)
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(WORDS))
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(WORDS), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=64, num_labels=outputs, initializer_range=1.0,
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    return _tiny(tmp_path_factory.mktemp("reranker") / "tiny")


async def test_each_passage_gets_a_score_that_depends_on_both_texts(tiny: str) -> None:
    reranker = load_reranker(tiny)
    try:
        passages = ["set the timer", "the lid", "oil the filter " * 200, ""]
        one, again, other = await asyncio.gather(
            reranker.scores("how do i set the timer", passages),
            reranker.scores("how do i set the timer", passages[::-1]),
            reranker.scores("the lid", passages),
        )
    finally:
        reranker.close()
    assert len(one) == 4 and all(0.0 <= score <= 1.0 for score in one)
    assert len({round(score, 4) for score in one}) > 1
    assert one == pytest.approx(again[::-1], abs=1e-4)
    assert one != pytest.approx(other, abs=1e-4)
    assert reranker.name == tiny


async def test_nothing_to_judge_costs_nothing(tiny: str) -> None:
    reranker = load_reranker(tiny)
    assert await reranker.scores("how", []) == []
    reranker.close()


def test_a_model_that_is_not_there_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(EncoderError, match="Set RERANKER_MODEL"):
        load_reranker(str(tmp_path / "empty"))


def test_a_model_of_several_outputs_is_none(tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match="3 outputs"):
        load_reranker(_tiny(tmp_path / "nli", outputs=3))


async def test_the_packaged_one_tells_what_answers_from_what_shares_words() -> None:
    reranker = load_reranker(PACKAGED)
    passages = [
        "Fixtures: override a fixture with direct test parametrization.",
        "max_messages: The maximum number of messages to store in the internal cache. This defaults to 1000.",
        "When the bot receives a message, the event on_message is called.",
    ]
    try:
        scores = await reranker.scores("how many messages does the bot remember by default", passages)
        assert await reranker.scores("how", []) == []
    finally:
        reranker.close()
    assert reranker.weighs and scores.index(max(scores)) == 1 and all(0.0 <= one <= 1.0 for one in scores)


async def test_while_too_many_wait_nobody_waits_longer() -> None:
    reranker = load_reranker(PACKAGED)
    try:
        told = await asyncio.gather(
            *(reranker.scores("the lid", ["the lid"] * 9) for _ in range(WAITING + 4))
        )
        after = await reranker.scores("the lid", ["the lid"])
    finally:
        reranker.close()
    assert [len(one) for one in told] == [9] * (WAITING + 1) + [0] * 3 and len(after) == 1
