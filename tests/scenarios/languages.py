"""Questions in other languages than the documentation's; the loopback model is told how to translate them."""

from __future__ import annotations

from tests.journeys import test_languages
from tests.journeys.house import Bot
from tests.ollama_server import OllamaServer


async def german(platform: str, writer: Bot, ollama: OllamaServer) -> None:
    ollama.structured = test_languages.translating
    await test_languages.test_a_question_in_german_is_answered_in_german(platform, writer, ollama)


async def chinese(platform: str, writer: Bot, ollama: OllamaServer) -> None:
    ollama.structured = test_languages.translating
    await test_languages.test_a_question_in_chinese_is_answered_in_chinese(platform, writer, ollama)


async def follow_up(platform: str, writer: Bot, ollama: OllamaServer) -> None:
    ollama.structured = test_languages.translating
    await test_languages.test_a_follow_up_goes_on_in_the_language_of_the_thread(platform, writer, ollama)


async def by_command(platform: str, bot: Bot) -> None:
    await test_languages.test_ask_speaks_the_language_of_the_question(platform, bot)
