import pytest

from core.query.decompose import parts


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "How do I open SSH in the firewall, and also set up FTP?",
            ("How do I open SSH in the firewall?", "How do I set up FTP?"),
        ),
        (
            "How do I create a blueprint, and how do I register it?",
            ("How do I create a blueprint?", "How do I register blueprint?"),
        ),
        (
            "How do I nest blueprints? And where do I put the templates?",
            ("How do I nest blueprints?", "Where do I put the templates?"),
        ),
        (
            "I use gunicorn. How do I set timeouts? And how do I log requests?",
            ("I use gunicorn. How do I set timeouts?", "I use gunicorn. How do I log requests?"),
        ),
        (
            "1. How do I stream a response?\n2. How do I send a file?",
            ("How do I stream a response?", "How do I send a file?"),
        ),
        (
            "what is SECRET_KEY and how long should it be?",
            ("What is SECRET_KEY?", "How long should SECRET_KEY be?"),
        ),
    ],
)
def test_composite_questions_are_split(text, wanted):
    assert parts(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "How do I handle GET and POST in one view?",
        "How do I install and run it?",
        "What is the difference between session and g?",
        "How do I log requests and responses to a file and to syslog?",
        "Do you know how to upload files and where they go?",
        "How do I upload files? Any ideas?",
        "How do I upload files? Is that possible?",
        "I upgraded and now sessions are lost, why?",
        "What happens if I set both?",
        "```\nhow do I x? and how do I y?\n```",
        "",
    ],
)
def test_one_question_stays_one(text):
    assert parts(text) == (text,)


def test_too_many_parts_are_one():
    text = " ".join(f"How do I set option{n} here?" for n in range(9))
    assert parts(text) == (text,)
