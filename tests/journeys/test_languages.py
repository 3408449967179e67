"""Questions in other languages: answered in the language of the question, on every platform."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from tests.journeys.fake_stage import FakeStage
from tests.journeys.house import Bot, Kettle, house
from tests.journeys.kettle import PORTS
from tests.journeys.stage import EVERYWHERE, Seen, answer, ask, open_stage, squeezed, told, until
from tests.ollama_answers import Recorded, filled, question_of
from tests.ollama_server import OllamaServer

ENGLISH = "Which port does the dashboard listen on?"
GERMAN = "Auf welchem Port lauscht das Dashboard?"
CHINESE = "仪表板监听哪个端口？"
SPANISH = "¿En qué puerto escucha el panel de control?"
GERMAN_ANSWER = "Das Dashboard lauscht auf Port 9090 [1]."


def translating(recorded: Recorded, schema: Mapping[str, Any], name: str = "") -> Any:
    """Fill the form on a question as a model does that knows these four languages."""
    if "base" not in schema.get("properties", {}):
        return filled(recorded, schema, name)
    asked = question_of(recorded)
    base = f"{ENGLISH[:-1]} in 1.5?" if "1.5" in asked else ENGLISH
    plain = "port dashboard listen" + (" 1.5" if "1.5" in asked else "")
    return {"release": "", "base": base, "filtered": plain, "versionless": "", "parts": [base]}


def saying(ollama: OllamaServer, text: str) -> None:
    """Let the model answer with that text; how it fills forms stays as it is."""
    ollama.answer = lambda recorded: text


@pytest.fixture
def translator(ollama: OllamaServer) -> OllamaServer:
    ollama.structured = translating
    return ollama


@EVERYWHERE
async def test_a_question_in_german_is_answered_in_german(
    platform: str, writer: Bot, translator: OllamaServer
) -> None:
    saying(translator, GERMAN_ANSWER)
    async with open_stage(platform, writer) as stage:
        seen = await ask(stage, GERMAN)
        assert "lauscht auf Port 9090" in seen.text
        assert "Quellen" in seen.text and "aus der Dokumentation geschrieben" in seen.text
        assert "https://kettle.example/2.0/dashboard" in seen.text
        understood, written = translator.chats
        assert "The question is in German, the documentation in English" in understood.system
        assert "Write in German" in written.system
        assert GERMAN in written.prompt and question_of(written) == ENGLISH
        await stage.press("ann", seen, "why")
        assert "Das Modell hat sie" in await told(stage, "ann", "Seiten")


@EVERYWHERE
async def test_a_question_in_chinese_is_answered_in_chinese(
    platform: str, writer: Bot, translator: OllamaServer
) -> None:
    saying(translator, "仪表板监听 9090 端口 [1]。")
    async with open_stage(platform, writer) as stage:
        seen = await ask(stage, CHINESE)
        assert "仪表板监听 9090 端口" in seen.text and "来源" in seen.text
        assert "Write in Chinese" in translator.chats[-1].system


@EVERYWHERE
async def test_a_follow_up_goes_on_in_the_language_of_the_thread(
    platform: str, writer: Bot, translator: OllamaServer
) -> None:
    saying(translator, GERMAN_ANSWER)
    async with open_stage(platform, writer) as stage:
        said = await stage.say("ann", GERMAN, to="bot")
        await answer(stage, said)
        await stage.say("ann", "1.5?", under=said)
        second = await answer(stage, said, 2)
        assert "Quellen" in second.text and "Kettle 1.5" in second.text
        assert "Write in German" in translator.chats[-1].system


async def test_an_edited_question_keeps_its_language(writer: Bot, translator: OllamaServer) -> None:
    saying(translator, GERMAN_ANSWER)
    async with FakeStage(writer) as stage:
        said = await stage.say("ann", GERMAN, to="bot")
        await answer(stage, said)
        saying(translator, GERMAN_ANSWER.replace("lauscht", "hört"))
        await stage.edit(said, f"{GERMAN[:-1]} heute?")
        seen = await until(lambda: [one for one in stage.replies(said) if "hört auf Port 9090" in one.text])
        assert "Quellen" in seen[0].text and "Write in German" in translator.chats[-1].system
        assert "The question is in German" in translator.chats[-2].system


async def test_without_a_model_pages_are_quoted_with_german_words_around(bot: Bot) -> None:
    stage = FakeStage(bot)
    seen = await ask(stage, "Wie setze ich KETTLE_DASHBOARD_PASSWORD für das Dashboard?")
    assert "KETTLE_DASHBOARD_PASSWORD" in seen.text and "Protect the dashboard with a password" in seen.text
    assert seen.text.startswith("Am nächsten kommt:") and "Quellen" in seen.text
    assert "Sprachmodell" not in seen.text, "none is configured"


async def test_what_nobody_translated_is_said_in_the_language_of_the_question(bot: Bot) -> None:
    seen = await ask(FakeStage(bot), "¿Cómo hago una tarta de manzana sin horno?")
    assert seen.text.startswith("Tu pregunta está en español, la documentación en inglés")
    assert "No lo sé" not in seen.text and "https://" not in seen.text


async def test_an_unknown_release_is_refused_in_the_language_of_the_question(bot: Bot) -> None:
    seen = await ask(FakeStage(bot), "Auf welchem Port lauscht das Dashboard in Kettle 7.3?")
    assert "kenne ich nicht" in seen.text and "2.0 (aktuell)" in seen.text


# --- a model that others use, or that is being loaded -------------------------------------------


async def both(bot: Bot, others: int = 1) -> tuple[Seen, list[Seen]]:
    """Let people ask in English and dan in German at the same time; return dan's answer and theirs."""
    stage = FakeStage(bot)
    english = [stage.say(f"ann{number}", ENGLISH, to="bot") for number in range(others)]
    *said, german = await asyncio.gather(*english, stage.say("dan", GERMAN, to="bot"))
    theirs = [await answer(stage, one) for one in said]
    return await answer(stage, german), theirs


def speaking(recorded: Recorded) -> str:
    """Answer in the language that is asked for."""
    german = "Write in German" in recorded.system
    return GERMAN_ANSWER if german else "The dashboard listens on port 9090 [1]."


@pytest.fixture
def speaker(translator: OllamaServer) -> OllamaServer:
    translator.answer = speaking
    return translator


async def test_two_who_ask_at_once_in_two_languages_are_both_answered(
    writer: Bot, speaker: OllamaServer
) -> None:
    speaker.first_token_delay = 0.3
    german, [english] = await both(writer)
    assert "lauscht auf Port 9090" in german.text and "Das weiß ich nicht" not in german.text
    assert "The dashboard listens on port 9090" in english.text
    assert speaker.most_running == 1 and speaker.calls == 3


async def test_who_waits_in_line_for_longer_than_a_step_may_take_is_still_translated(
    kettle: Kettle, speaker: OllamaServer
) -> None:
    """Six times half a second is waited for, where a step may take two: as 45 s of 15."""
    speaker.first_token_delay = 0.5
    async with house(kettle, ollama_host=speaker.url, steps_seconds=2.0, ollama_timeout=60.0) as bot:
        german, english = await both(bot, others=6)
    assert "lauscht auf Port 9090" in german.text and "Das weiß ich nicht" not in german.text
    assert all("The dashboard listens on port 9090" in seen.text for seen in english)


@pytest.mark.parametrize("others", [0, 1])
async def test_a_question_that_finds_the_model_cold_is_answered(
    others: int, kettle: Kettle, speaker: OllamaServer
) -> None:
    """Loading takes twice what a step may take, as 30 s of 15; who asks meanwhile waits, too."""
    speaker.first_token_delay = 2.0
    async with house(kettle, ollama_host=speaker.url, steps_seconds=1.0, ollama_timeout=60.0) as bot:
        asking = asyncio.create_task(both(bot, others))
        await until(lambda: speaker.running)
        speaker.first_token_delay = 0.05
        german, english = await asking
    assert "lauscht auf Port 9090" in german.text and "Das weiß ich nicht" not in german.text
    assert all("The dashboard listens on port 9090" in seen.text for seen in english)


# --- memory -----------------------------------------------------------------------------------


async def _good(stage: FakeStage, seen: Seen) -> None:
    for who in ("ann", "bob", "hal"):
        await stage.react(who, seen, "👍")
    await stage.quiet()


async def test_an_english_question_is_not_answered_in_german_from_memory(
    writer: Bot, translator: OllamaServer
) -> None:
    saying(translator, GERMAN_ANSWER)
    stage = FakeStage(writer)
    await _good(stage, await ask(stage, GERMAN))
    again = await ask(stage, f"{GERMAN} Weiß das jemand?")
    calls = translator.calls
    assert "Quellen" in again.text
    saying(translator, "The dashboard listens on port 9090 [1].")
    english = await ask(stage, ENGLISH)
    assert "The dashboard listens on port 9090" in english.text and "lauscht" not in english.text
    assert translator.calls > calls, "it is written anew"
    assert "lauscht auf Port" in translator.chats[-1].prompt, "the German answer is an example for the model"
    assert "Write in English" in translator.chats[-1].system


async def test_the_same_question_in_german_is_reused_in_german(writer: Bot, translator: OllamaServer) -> None:
    saying(translator, GERMAN_ANSWER)
    stage = FakeStage(writer)
    await _good(stage, await ask(stage, GERMAN))
    again = await ask(stage, "Welchen Port benutzt das Dashboard?")
    assert "aus dem Gedächtnis der Community" in again.text
    answered = [chat for chat in translator.chats if "You answer questions" in chat.system]
    assert len(answered) == 1, "it was translated, and found in memory"


async def test_the_english_answer_is_an_example_for_the_german_one(
    writer: Bot, translator: OllamaServer
) -> None:
    saying(translator, "The dashboard listens on port 9090 [1].")
    stage = FakeStage(writer)
    await _good(stage, await ask(stage, ENGLISH))
    saying(translator, GERMAN_ANSWER)
    seen = await ask(stage, GERMAN)
    assert "lauscht auf Port 9090" in seen.text
    assert "The dashboard listens on port 9090" in translator.chats[-1].prompt
    answer_id = await writer.app.conversations.answer_of(f"fake:public:{seen.id}")
    if answer_id:
        why = await writer.app.engine.answer_log.why(answer_id)
        assert any("anderen Sprache" in sentence for sentence in why["sentences"])


async def test_a_model_that_dies_lets_the_other_language_be_said(
    writer: Bot, translator: OllamaServer
) -> None:
    saying(translator, "The dashboard listens on port 9090 [1].")
    stage = FakeStage(writer)
    await _good(stage, await ask(stage, ENGLISH))
    translator.script("answer", "crashed", "crashed", "crashed")
    seen = await ask(stage, GERMAN)
    assert seen.text.startswith("Eine gute Antwort darauf kenne ich nur auf Englisch:")
    assert "The dashboard listens on port 9090" in seen.text


async def test_chinese_questions_are_not_taken_for_one_another_without_a_model(bot: Bot) -> None:
    stage = FakeStage(bot)
    await _good(stage, await ask(stage, "怎么设置 KETTLE_DASHBOARD_PASSWORD 密码"))
    other = await ask(stage, "怎么删除 KETTLE_DASHBOARD_PASSWORD 密码")
    assert "来自社区记忆" not in other.text
    same = await ask(stage, "怎么设置 KETTLE_DASHBOARD_PASSWORD 密码？")
    assert "来自社区记忆" in same.text


# --- calls ------------------------------------------------------------------------------------


async def test_a_foreign_question_takes_no_call_more_than_a_follow_up(
    kettle: Kettle, translator: OllamaServer
) -> None:
    saying(translator, GERMAN_ANSWER)
    async with house(kettle, ollama_host=translator.url, model_steps="understand,reduce,select") as bot:
        await ask(FakeStage(bot), GERMAN)
    assert translator.calls == 4


async def test_fast_never_switches_translation_off(kettle: Kettle, translator: OllamaServer) -> None:
    saying(translator, GERMAN_ANSWER)
    async with house(kettle, ollama_host=translator.url, fast=True) as bot:
        seen = await ask(FakeStage(bot), GERMAN)
    understood, written = translator.chats
    assert "The question is in German" in understood.system and "Write in German" in written.system
    assert "Quellen" in seen.text


async def test_the_default_language_is_spoken_where_nothing_tells(kettle: Kettle) -> None:
    async with house(kettle, language="es") as bot:
        assert "Fuentes" in (await ask(FakeStage(bot), "KETTLE_DASHBOARD_PASSWORD")).text


@EVERYWHERE
async def test_ask_speaks_the_language_of_the_question(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        await stage.slash("ann", "ask", "Wie setze ich KETTLE_DASHBOARD_PASSWORD für das Dashboard?")
        await until(lambda: [text for text in stage.heard("ann") if "Quellen" in squeezed(text)])


async def test_two_languages_at_once_do_not_meet(bot: Bot) -> None:
    stage = FakeStage(bot)
    german, english = await asyncio.gather(
        ask(stage, "Wie setze ich KETTLE_DASHBOARD_PASSWORD für das Dashboard?"),
        ask(stage, ENGLISH, who="bob"),
    )
    assert "Quellen" in german.text and "Sources" not in german.text
    assert "Sources" in english.text and "Quellen" not in english.text and PORTS["2.0"] in english.text
