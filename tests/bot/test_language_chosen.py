"""Which language somebody is answered in: words, thread, client, house, in this order."""

from __future__ import annotations

from typing import Any

import pytest

from bot.conversation.desk import LocaleResolver
from bot.ports.chat import Message, Person, packed
from core.domain import MessageRef, Scope
from core.ports import Claim
from tests.fake_stores import FakeConversations

ANN = Person("fake:ann", "Ann")
NO_ANSWERS: Any = None


def _message(text: str, author: Person = ANN, thread: str = "1", **more: str) -> Message:
    return Message(MessageRef("fake", "C", "2", thread), author, text, Scope(), **more)


async def _locales(default: str = "en", asked_before: str = "") -> LocaleResolver:
    conversations = FakeConversations()
    if asked_before:
        first = _message("Wie setze ich ein Cookie?", language=asked_before)
        claim = Claim("fake:C:1", first.ref.conversation, ANN.id, 1.0, packed(first))
        assert await conversations.claim(claim)
        await conversations.answered(claim.message, "a1")
    return LocaleResolver(conversations, NO_ANSWERS, default)


@pytest.mark.parametrize(
    ("text", "before", "locale", "default", "language"),
    [
        ("wie setze ich ein Cookie", "en", "es-ES", "zh", "de"),
        ("how do I set a cookie", "de", "de-DE", "de", "en"),
        ("2.3?", "de", "es-ES", "zh", "de"),
        ("2.3?", "", "es-419", "zh", "es"),
        ("MAX_FORM_PARTS", "", "", "zh", "zh"),
        ("MAX_FORM_PARTS", "", "?", "en", "en"),
    ],
)
async def test_words_then_thread_then_client_then_house(
    text: str, before: str, locale: str, default: str, language: str
) -> None:
    locales = await _locales(default, before)
    assert await locales.of(_message(text, Person("fake:ann", "Ann", locale=locale))) == language


async def test_a_message_that_has_its_language_keeps_it() -> None:
    locales = await _locales()
    assert await locales.of(_message("how do I set a cookie", language="de")) == "de"


async def test_another_thread_tells_nothing() -> None:
    locales = await _locales(asked_before="de")
    assert await locales.of(_message("2.3?", thread="9")) == "en"


async def test_a_text_outside_of_threads() -> None:
    locales = await _locales()
    person = Person("fake:ann", locale="zh-CN")
    assert await locales.of_text("", person) == "zh"
    assert await locales.of_text("cómo pongo una cookie", person) == "es"
