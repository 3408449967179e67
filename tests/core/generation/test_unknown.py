import pytest

from core.generation.checked.raw import is_unknown, says_lack


@pytest.mark.parametrize(
    "text",
    [
        "I don't know.",
        "I'm sorry, but the evidence does not mention this.",
        "I am sorry, but I cannot find this in the documentation.",
        "I apologize, but I don't have information about that.",
        "I don’t know",
        "**I don't know.**",
        "I do not know. The evidence only covers sessions [1].",
        "I don't know, as the evidence does not mention it.",
        "I don't know the answer to this.",
        "I don't know. However, you could look at [2].",
        "Sorry, but I don't know.",
        "The evidence does not mention how to do it.",
        "The provided documentation does not contain information about Redis [1]. Please see its docs.",
        "Based on the provided evidence, I cannot determine the answer.",
        "There is no information about it in the evidence.",
        "Unfortunately, the documentation doesn't specify this.",
        "The evidence does not explicitly mention async. I don't know.",
        "Ich weiß es nicht.",
        "我不知道。",
        "Not covered by the evidence.",
        "This is not covered in the provided documentation.",
        "The documentation does not say how.",
        "I do not know the answer based on the provided evidence.",
        "I don't know how to configure Redis for that. However, the evidence does not mention it either.",
        "I don't know whether that works. Please check the documentation.",
        "How to do that is not described in the evidence.",
        "The evidence says nothing about Redis.",
        "The documentation I found does not show that.",
        "The documentation I found for 3.1 does not state such a requirement.",
        "In der gefundenen Dokumentation steht dazu nichts.",
        "The documentation is silent on this.",
        "I found nothing about this in the documentation.",
        "Die Dokumentation enthält dazu keine Informationen.",
        "Die bereitgestellten Belege erwähnen das nicht.",
        "Das steht nicht in der Dokumentation.",
        "Dazu steht nichts in den Quellen.",
        "Leider kann ich diese Frage nicht beantworten.",
        "Es gibt dazu keine Informationen in der Dokumentation.",
        "Es tut mir leid, das weiß ich nicht. Die Dokumentation sagt dazu nichts.".removeprefix(
            "Es tut mir leid, "
        ),
        "文档中没有提到这个选项。",
        "抱歉，我无法从提供的证据中找到答案。",
        "根据提供的文档，没有相关信息。",
        "Lo siento, no hay información sobre eso.",
        "La documentación no menciona Redis.",
        "La documentation ne mentionne pas Redis.",
    ],
)
def test_not_knowing_is_recognised(text: str) -> None:
    assert is_unknown(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I don't know whether 2.3 supports it, but 3.1 does [1].",
        "The evidence does not recommend running it in production [1].",
        "Use `app.run()` [1].",
        "You should check the log with `tail` [1].",
        "Please set SECRET_KEY [1].",
        "The documentation does not cover Redis, but you can use a file [1].",
        "The evidence does not mention Redis. Use a file instead [2].",
        "The documentation does not mention it:\n```\nx\n```",
        "Flask does not provide sessions of that kind [1].",
        "No, this was removed in 3.0 [1].",
        "Call `i_dont_know()`.",
        "I don't know of a shorter way than `app.run()`, but that starts it [1].",
        "I don't know how to do it by hand. However, `flask run` starts it [1].",
        "Die Sitzung enthält keine Daten, bis man `session` setzt [1].",
        "Der Text wird nicht umgebrochen, wenn man `wrap` setzt [1].",
        "Das Limit ist nicht gesetzt, der Standardwert ist `None` [1].",
        "没有设置时，默认值是 31 天 [1]。",
        "Not setting the key raises an error [1].",
        "The session is not stored in the cookie [1].",
    ],
)
def test_an_answer_is_not_taken_for_not_knowing(text: str) -> None:
    assert not is_unknown(text)


@pytest.mark.parametrize(
    "sentence",
    [
        "I don't know how to do it by hand.",
        "The documentation does not say how.",
        "Not covered by the evidence.",
        "The documentation I found says this for 5.0.x and does not say it for 5.1 itself.",
        "The documentation I found shows `-Q` only with `celery multi`, and does not say what is so without.",
        "Die Dokumentation sagt dazu nichts.",
        "文档中没有提到这个选项。",
    ],
)
def test_a_sentence_that_opens_a_refusal_is_known_before_the_rest(sentence: str) -> None:
    assert says_lack(sentence)
    for told in (
        "this for 5.0 and 5.1",
        "this for 5.0 and not only for Windows",
        "that for servers you use it and not that",
        "that servers which do not say their name wait and that they do not say it again",
    ):
        assert not says_lack(f"The documentation says {told} [1].")
    assert not says_lack("Set the key [1].") and not says_lack("You should check the log [1].")
