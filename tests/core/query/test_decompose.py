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
            "who on earth is pulling in left-pad in our tree, how do i see it",
            ("who on earth is pulling in left-pad in our tree, how do i see it",),
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
            "How do I log requests, and how do I write a view that returns JSON?",
            ("How do I log requests?", "How do I write a view that returns JSON?"),
        ),
        (
            "How do I send mail? And how can I serve files that users uploaded?",
            ("How do I send mail?", "How can I serve files that users uploaded?"),
        ),
        (
            "what is SECRET_KEY and how long should it be?",
            ("What is SECRET_KEY?", "How long should SECRET_KEY be?"),
        ),
        (
            "How do I send emails on errors and who won the world cup in 2014?",
            ("How do I send emails on errors?", "Who won the world cup in 2014?"),
        ),
        (
            "1. How do I set cookies?\n2. How do I delete cookies?\n3. How do I sign them?",
            ("How do I set cookies?", "How do I delete cookies?", "How do I sign cookies?"),
        ),
        (
            "When is teardown_appcontext called and what happens if it raises?",
            ("When is teardown_appcontext called?", "What happens if teardown_appcontext raises?"),
        ),
        (
            "Which WSGI server should I use, and how do I put nginx in front of it?",
            ("Which WSGI server should I use?", "How do I put nginx in front of WSGI server?"),
        ),
        (
            "How do I nest blueprints in 2.0? And in 3.1, how do I stream a template?",
            ("How do I nest blueprints in 2.0?", "In 3.1, how do I stream a template?"),
        ),
        (
            "How do I serve files, how do I protect them, and what about caching?",
            ("How do I serve files?", "How do I protect files?", "What about caching?"),
        ),
        (
            "How do I make a redirect, and what status code is used, and can I change it?",
            (
                "How do I make a redirect?",
                "What status code is used, and can I change it?",
            ),
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
        "how many messages does a worker prefetch by default and how to change it",
        "What is the upload limit, and how do I raise it?",
        "can a view give back a dict or do i have to jsonify it myself",
        "how many fields can a form have before it is refused, and can i take that limit away",
        "how many messages does a worker keep by default, can i turn that off to save memory",
        "What is the difference between session and g?",
        "How do I log requests and responses to a file and to syslog?",
        "Do you know how to upload files and where they go?",
        "How do I upload files? Any ideas?",
        "How do I upload files? Is that possible?",
        "I upgraded and now sessions are lost, why?",
        "serve: error: unrecognized arguments: --old\nhappens since the update to 8, where did it go?",
        "What happens if I set both?",
        "Warning: the kettle was at /a before\nDo you want to go on? [yN]\nhow do i say yes from a script",
        "How do I enable debug mode and set the secret key?",
        "How do I create a blueprint and register it on the app?",
        "What are GET and POST and how do I accept both in one view?",
        "How do I log in users and log them out again?",
        "Does Flask support websockets and GraphQL?",
        "```\nhow do I x? and how do I y?\n```",
        "",
    ],
)
def test_one_question_stays_one(text):
    assert parts(text) == (text,)


@pytest.mark.parametrize(
    "text",
    [
        "how do async views work, do i need an extra package",
        "How do I set the timer, and can I use another one?",
        "does it replace kettles/stoves, can it boil milk for me",
    ],
)
def test_a_part_that_leans_on_the_other_is_not_cut_off(text):
    assert parts(text) == (text,)


def test_too_many_parts_are_one():
    text = " ".join(f"How do I set option{n} here?" for n in range(9))
    assert parts(text) == (text,)


@pytest.mark.parametrize(
    "text",
    [
        "I tried to set SECRET_KEY, why is it not read?",
        "If I have to run migrations, where do I put the script?",
        "I'm trying to upload a file to S3, how do I set the content type?",
        "To enable debug mode, do I set FLASK_DEBUG or debug=True?",
        "compared to Django 4.2, how does flask handle sessions?",
        "Why does url_for fail to build, is it because of the blueprint name?",
    ],
)
def test_what_leads_to_a_question_or_guesses_at_its_answer_is_no_question(text):
    assert parts(text) == (text,)


def test_what_announces_questions_is_part_of_none():
    text = "I have two questions about Flask:\n1. How do I log to a file?\n2. How do I return JSON with 404?"
    assert parts(text) == ("How do I log to a file?", "How do I return JSON with 404?")
