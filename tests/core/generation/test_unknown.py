import pytest

from core.generation.unknown import is_unknown


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
    ],
)
def test_an_answer_is_not_taken_for_not_knowing(text: str) -> None:
    assert not is_unknown(text)
