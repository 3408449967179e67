"""Which language a question is in: measured on short technical questions, English ones above all."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path

import pytest

from core.query.language import FURTHER, KNOWN, detect, detected, wording

GOLDEN = Path(__file__).parents[2] / "golden"


def _lines(name: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (GOLDEN / name).read_text("utf-8").splitlines()]


def test_short_technical_questions_are_told_apart() -> None:
    found: dict[str, Counter[str]] = {}
    for line in _lines("language_of.jsonl"):
        found.setdefault(line["language"], Counter())[detected(line["question"])] += 1
    assert set(found) == {*KNOWN, *FURTHER} and sum(sum(c.values()) for c in found.values()) >= 200
    for language, counts in found.items():
        wrong = sum(n for other, n in counts.items() if other not in (language, ""))
        assert wrong <= 1, (language, counts)
        least = {"en": 0.8}.get(language, 0.93 if language in KNOWN else 0.9)
        assert counts[language] / sum(counts.values()) >= least, (language, counts)


def test_english_is_hardly_ever_taken_for_another_language() -> None:
    asked = [entry["question"] for name in ("flask.jsonl", "click.jsonl") for entry in _lines(name)]
    asked += [
        entry[part]
        for name in ("guard.jsonl",)
        for entry in _lines(name)
        for part in entry
        if isinstance(entry[part], str) and " " in entry[part] and part not in ("id", "kind", "why")
    ]
    other = [text for text in asked if detected(text) not in ("en", "")]
    assert len(asked) > 500
    assert len(other) <= 0.005 * len(asked), other


def test_translated_golden_questions_are_recognised() -> None:
    lines = _lines("other_languages.jsonl")
    right = sum(detected(line["question"]) == line["language"] for line in lines)
    assert right >= len(lines) - 1


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("jsonify 可以返回列表吗?", "zh"),
        ("why does 你好 show up as question marks in my page", "en"),
        ("テンプレートが見つからない", "ja"),
        ("Was bedeutet `please set the secret key`?", "de"),
        ("Fehler: „the session is unavailable because no secret key was set“, was tun?", "de"),
        ("", ""),
        ("3.1", ""),
        ("MAX_CONTENT_LENGTH", ""),
        ("```python\nprint('hallo welt')\n```", ""),
        ("!?", ""),
    ],
)
def test_code_quotations_and_scripts(text: str, language: str) -> None:
    assert detected(text) == language


def test_what_is_english_everywhere_is_left_out() -> None:
    assert wording("Wie setze ich `app.config` mit --debug und SECRET_KEY in https://a.b/c 2.3?") == (
        "Wie setze ich mit und in . ?"
    )


async def test_many_at_once_read_the_model_once() -> None:
    found = await asyncio.gather(*(detect("wie setze ich ein Cookie") for _ in range(8)))
    assert set(found) == {"de"}


@pytest.mark.parametrize(
    "text",
    ["how do i deploy", "how do i test?", "can i log in", "do i set cors", "how do i debug flask"],
)
def test_a_short_question_with_small_words_of_other_languages_is_english(text: str) -> None:
    assert detected(text) == "en"
    assert detected(f"hi, {text}") == detected(f"in blueprints, {text}") == "en"


def test_english_words_in_a_question_make_it_no_english_one() -> None:
    assert detected("Gibt es ein How To dazu, oder wie mache ich das?") == "de"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("hallo", "de"),
        ("Danke!", "de"),
        ("¡gracias!", "es"),
        ("obrigado", "pt"),
        ("teşekkürler", "tr"),
        ("كيف أغير max_retries في 2.0؟", "ar"),
        ("ما هو منفذ dashboard؟", "ar"),
        ("چطور پورت را تغییر دهم", "fa"),
        ("Як змінити порт?", "uk"),
        ("Как изменить порт?", "ru"),
        ("Πώς αλλάζω τη θύρα;", "el"),
        ("कैसे बदलें", "hi"),
        ("port ändern", "de"),
        ("Ich kriege BrokerError: connection refused beim Start", "de"),
        ("timeout in μs", "en"),
        ("connection refused", "en"),
        ("hola is a shell command", "en"),
        ("Thanks, merci", "en"),
    ],
)
def test_letters_greetings_and_words_among_names_tell_a_language(text: str, language: str) -> None:
    assert detected(text) == language
