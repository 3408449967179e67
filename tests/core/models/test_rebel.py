"""Relations by a seq2seq model: the real class on a tiny model of REBEL's kind (BART) made here, offline."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from bot.app.builders.models import open_models
from core.errors import ConfigurationError
from core.generation.triplets import by_seq2seq, within
from core.models.rebel import TAGS, WINDOWS, WORDS, Rebel, load_rebel, without_last
from core.settings import load_settings
from tests.fakes import FakeEncoder

PAGE = "the `timer` wakes the **kettle** at night."
WRITTEN = "<triplet> timer <subj> kettle <obj> part of <subj> night <obj> point in time"


def _tiny(folder: Path, tags: tuple[str, ...] = TAGS, taught: bool = True) -> str:
    """Write a BART of one layer, which was taught to write `WRITTEN` of `PAGE` unless it stays random."""
    import tokenizers
    import torch
    import transformers

    told = [PAGE.replace("`", "").replace("*", ""), WRITTEN]
    special = ["<s>", "<pad>", "</s>", "<unk>", *tags]
    known = dict.fromkeys([*special, *(word for word in " ".join(told).split() if word not in TAGS)])
    vocabulary = {word: place for place, word in enumerate(known)}
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="<unk>"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    words.post_processor = tokenizers.processors.TemplateProcessing(
        "<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, bos_token="<s>", pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )
    tokenizer.save_pretrained(folder)
    transformers.set_seed(3)
    config = transformers.BartConfig(
        vocab_size=len(tokenizer), d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=64, decoder_ffn_dim=64, max_position_embeddings=300,
        bos_token_id=0, pad_token_id=1, eos_token_id=2, decoder_start_token_id=0, forced_eos_token_id=2,
        dropout=0.0, init_std=0.1,
    )  # fmt: skip
    model: Any = transformers.BartForConditionalGeneration(config)
    given = tokenizer(told[0], return_tensors="pt")
    labels = tokenizer(told[1], return_tensors="pt", add_special_tokens=False)["input_ids"]
    labels = torch.cat([labels, torch.tensor([[2]])], dim=1)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(100 if taught else 0):
        loss = model(**{name: given[name] for name in ("input_ids", "attention_mask")}, labels=labels).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    model.save_pretrained(folder)
    return str(folder)


async def test_what_the_model_writes_of_a_page_becomes_triplets_whose_ends_stand_in_it(
    tmp_path: Path,
) -> None:
    rebel = load_rebel(_tiny(tmp_path / "tiny"))
    try:
        assert await rebel.linearized(["the timer wakes the kettle at night."]) == [WRITTEN]
        found = await by_seq2seq(rebel, [f"{PAGE}\n\n```\nthe code = wakes(the, kettle)\n```\n"])
    finally:
        rebel.close()
    assert found == [("timer", "part of", "kettle"), ("timer", "point in time", "night")]
    assert within(found, PAGE) == found and within(found, "the timer of a kettle") == found[:1]


async def test_a_model_that_was_taught_nothing_puts_no_triplet_beside_a_page(tmp_path: Path) -> None:
    rebel = load_rebel(_tiny(tmp_path / "tiny", taught=False))
    try:
        (written,) = await rebel.linearized([PAGE])
        found = await by_seq2seq(rebel, [PAGE])
    finally:
        rebel.close()
    assert "<s>" not in written and WRITTEN not in written
    assert within(found, PAGE) == []


async def test_windows_are_cut_between_lines_and_limited() -> None:
    seen: list[str] = []

    def write(window: str, seconds: float) -> str:
        seen.append(window)
        return ""

    rebel = Rebel("seen", write)
    try:
        line = " ".join(["word"] * (WORDS // 2))
        assert await rebel.linearized([f"{line}\n{line}\n\n{line}", "another text"]) == [""] * 3
        assert [window.count("word") for window in seen] == [WORDS, WORDS // 2, 0]
        assert len(await rebel.linearized([f"text {n}" for n in range(WINDOWS + 5)])) == WINDOWS
        assert await rebel.linearized(["", " \n "]) == []
    finally:
        rebel.close()


async def test_what_takes_too_long_is_left_out_and_who_comes_meanwhile_is_told_nothing() -> None:
    begun, go = threading.Event(), threading.Event()

    def write(window: str, seconds: float) -> str:
        begun.set()
        go.wait(60)
        return window

    rebel = Rebel("slow", write, seconds=0.05)
    try:
        first = asyncio.create_task(rebel.linearized(["one", "two"]))
        await asyncio.to_thread(begun.wait, 60)
        assert await rebel.linearized(["three"]) == [], "one question at a time"
        await asyncio.sleep(0.06)
        go.set()
        assert await first == ["one"], "no time was left for the second"
        assert await rebel.linearized(["three"]) == ["three"]
    finally:
        rebel.close()


async def test_who_asked_may_go_and_the_next_one_is_read(tmp_path: Path) -> None:
    begun, go = threading.Event(), threading.Event()

    def write(window: str, seconds: float) -> str:
        begun.set()
        go.wait(60)
        if window == "broken":
            raise IndexError("index out of range in self")
        return window

    rebel = Rebel("slow", write)
    try:
        gone = asyncio.create_task(rebel.linearized(["one"]))
        await asyncio.to_thread(begun.wait, 60)
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
        go.set()
        while not (read := await rebel.linearized(["two"])):
            await asyncio.sleep(0.01)
        assert read == ["two"]
        assert await rebel.linearized(["broken"]) == [], "an answer goes on without it"
        assert await rebel.linearized(["three"]) == ["three"]
    finally:
        rebel.close()


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("<s><triplet> a <subj> b <obj> par", "<s><triplet> a "),
        ("<triplet> a <subj> b <obj> part of <subj> c", "<triplet> a <subj> b <obj> part of "),
        ("<triplet> a <subj> b <obj> part of <triplet> c", "<triplet> a <subj> b <obj> part of "),
        ("nothing", ""),
        ("", ""),
    ],
)
def test_what_ended_for_want_of_room_loses_its_last_triplet(written: str, kept: str) -> None:
    assert without_last(written) == kept


async def test_the_setting_opens_it_beside_the_other_models(tmp_path: Path) -> None:
    given = {"home": tmp_path, "ollama_host": "off", "rebel_model": _tiny(tmp_path / "tiny", taught=False)}

    def load(name: str, folder: Path) -> FakeEncoder:
        return FakeEncoder()

    async with open_models(home=tmp_path, settings=load_settings(None, **given), load=load) as models:
        assert models.rebel is not None and models.rebel.name == given["rebel_model"]
    without = load_settings(None, home=tmp_path, ollama_host="off")
    async with open_models(home=tmp_path, settings=without, load=load) as models:
        assert models.rebel is None, "off unless it is named"


def test_a_model_that_is_not_there_or_writes_no_relations_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigurationError, match=r"empty cannot be loaded \(.*Set it to a folder"):
        load_rebel(str(tmp_path / "empty"))
    with pytest.raises(ConfigurationError, match="does not know <subj> <obj>, so"):
        load_rebel(_tiny(tmp_path / "other", TAGS[:1], taught=False))
