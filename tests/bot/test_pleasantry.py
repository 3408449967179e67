"""What people say to the bot without asking it anything about the product."""

import pytest

from bot.conversation.triggers import asks_nothing, is_greeting, is_objection, is_pleasantry, points_above


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


@pytest.mark.parametrize(
    "text",
    [
        "great that fixed it for me",
        "it's working now thanks",
        "perfect, solved my issue",
        "appreciate it",
        "k",
        "makes sense",
        "works like a charm",
        "danke dir",
        "muito obrigado",
        "ありがとうございます",
    ],
)
def test_joy_asks_for_nothing(text: str) -> None:
    assert asks_nothing(text) and not is_objection(text)


@pytest.mark.parametrize("text", ["will it work", "does it work now", "it works in 2.0", "what works now?"])
def test_what_only_sounds_like_joy_is_a_question(text: str) -> None:
    assert not asks_nothing(text)


@pytest.mark.parametrize(
    "text",
    [
        "that's wrong",
        "thats not right",
        "it's not working",
        "thanks but still broken",
        "same problem",
        "funktioniert nicht",
        "hat leider nicht geklappt",
        "não funciona",
        "не работает",
        "ça marche pas",
        "还是不行",
        "動きません",
    ],
)
def test_an_objection_is_understood_as_people_spell_it(text: str) -> None:
    assert is_objection(text) and not asks_nothing(text)


@pytest.mark.parametrize("text", ["that is not working in 2.0", "how is that wrong?", "same error as in 2.0"])
def test_an_objection_that_says_more_is_a_question(text: str) -> None:
    assert not is_objection(text)


@pytest.mark.parametrize("text", ["^", "?", "👆🏽", ":point_up:", "can you help here?", "bump", "any ideas?"])
def test_what_only_points_at_the_message_above_is_told(text: str) -> None:
    assert points_above(text)


@pytest.mark.parametrize("text", ["that makes no sense", "this will never work", "it will later not work"])
def test_a_complaint_is_no_thanks(text: str) -> None:
    assert not is_pleasantry(text)


@pytest.mark.parametrize(
    "text",
    ["", "👍", "hello", "help", "can you help me?", "upload", "what about cookies?", "help me with cookies"],
)
def test_what_points_at_nothing_is_told_too(text: str) -> None:
    assert not points_above(text)


THANKS = (
    "besten Dank, super, vielen Dank für die schnelle Hilfe, dankeschön, jetzt geht's, hab's hinbekommen, "
    "muchas gracias por la ayuda, muchísimas gracias, ya está gracias, je vous remercie, c'est réglé, "
    "非常感谢你的帮助, 好的我试试, 哦明白了, 收到, 太感谢了, 辛苦了, OK谢谢大家, 搞定了, 知道了, "
    "ありがとうございました, 助かりました, なるほど, わかりました, 감사합니다, "
    "спасибо большое, понял спасибо, разобрался, "
    "شكراً جزيلاً, teşekkür ederim, obrigado pela ajuda, bedankt, grazie mille, tack så mycket"
)
GREETINGS = (
    "大家好, 在吗, 早上好, здравствуйте, добрый день, مرحبا, "
    "Grüß Gott, bonjour à tous, buenas tardes, bom dia"
)
OBJECTIONS = (
    "funktioniert bei mir nicht, falsche Antwort, no me funciona, eso no es correcto, c'est faux, "
    "不管用, 答非所问, "
    "回答错了, это неправильно, 違います, non funziona, werkt niet"
)
QUESTIONS = (
    "谢谢那么2.0呢, 怎么修改端口, 端口, 可以修改端口吗, 没问题了吗, 可以吗？, 优化, 赞助, 了解端口, "
    "好友, パスワード, "
    "danke und wie ändere ich den Port, Passwort vergessen, la ayuda no abre, "
    "merci et en 2.0, спасибо а в 2.0"
)


@pytest.mark.parametrize("text", THANKS.split(", "))
def test_thanks_ask_nothing_in_any_language(text: str) -> None:
    assert asks_nothing(text)


@pytest.mark.parametrize("text", GREETINGS.split(", "))
def test_greetings_greet_in_any_language(text: str) -> None:
    assert is_greeting(text)


@pytest.mark.parametrize("text", OBJECTIONS.split(", "))
def test_objections_object_in_any_language(text: str) -> None:
    assert is_objection(text) and not asks_nothing(text)


@pytest.mark.parametrize("text", QUESTIONS.split(", "))
def test_questions_ask_in_any_language(text: str) -> None:
    assert not asks_nothing(text) and not is_objection(text)
