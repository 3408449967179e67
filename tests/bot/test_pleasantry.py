"""What people say to the bot without asking it anything about the product."""

import pytest

from bot.conversation.triggers import is_greeting, is_pleasantry


@pytest.mark.parametrize(
    "text",
    [
        "hello",
        "Hi there!",
        "Good morning everyone :wave:",
        "hey",
        "help",
        "Can you help me, please?",
        "Who are you and what can you do?",
        "What can I ask you?",
        "Hallo zusammen!",
        "Guten Tag, wer bist du?",
        "¡Hola! ¿Qué puedes hacer?",
        "你好",
        "test",
    ],
)
def test_who_greets_or_asks_about_the_bot_is_told_what_it_can_be_asked(text: str) -> None:
    assert is_greeting(text)


@pytest.mark.parametrize(
    "text",
    [
        "thanks!",
        "ok",
        "",
        "How do I test a view?",
        "hello world example",
        "Hi, how do I stream a response?",
        "help with sessions",
        "Can you help me with cookies?",
        "What can g do?",
        "How does this work?",
        "ping the database",
        "What is the name of the session cookie?",
        "and in 2.3?",
    ],
)
def test_what_asks_about_the_product_is_no_greeting(text: str) -> None:
    assert not is_greeting(text)


@pytest.mark.parametrize("text", ["thanks!", "Thank you so much :pray:", "ok, great", "danke"])
def test_thanks_ask_for_nothing(text: str) -> None:
    assert is_pleasantry(text) and not is_greeting(text)
