import pytest

from core.catalogue.loading import load_glossary
from core.query.forms import expansions, propose, toml

WORDS = {"PM": ("performance monitoring",), "ORM": ("object relational mapper", "SQLAlchemy")}


def test_terms_and_meanings_lead_to_each_other():
    assert expansions("PM counters", WORDS) == ("performance monitoring",)
    assert expansions("Performance  monitoring of cells", WORDS) == ("PM",)
    assert expansions("SQLAlchemy session", WORDS) == ("ORM", "object relational mapper")


def test_only_whole_words_in_the_right_case():
    assert expansions("call at 5 pm", WORDS) == ()
    assert expansions("PMs and DORMs", WORDS) == ("performance monitoring",)


def test_acronyms_are_proposed_from_pages():
    pages = [
        ("Performance Monitoring (PM) collects counters.", "a"),
        ("The command line interface (CLI) is small. CSRF (cross-site request forgery) is an attack.", "a"),
        ("Some words (NOTE) in brackets, and Performance Management (PM).", "b"),
        ("*Performance Monitoring* (**PM**) again.", "c"),
    ]
    found = propose(pages)
    assert [(p.acronym, p.meaning, p.count, p.pages) for p in found] == [
        ("CLI", "command line interface", 1, ("a",)),
        ("CSRF", "cross-site request forgery", 1, ("a",)),
        ("PM", "performance monitoring", 2, ("a", "c")),
        ("PM", "performance management", 1, ("b",)),
    ]


@pytest.mark.parametrize(
    ("text", "acronym", "meaning"),
    [
        ("against cross-site scripting (XSS) attacks", "XSS", "cross-site scripting"),
        ("for single-page applications (SPAs)", "SPA", "single-page application"),
        ("Hypertext Markup Language (HTML)", "HTML", "hypertext markup language"),
        ("the Web Server Gateway Interface (WSGI)", "WSGI", "web server gateway interface"),
        ("[Web Server Gateway Interface](a.html) ([WSGI](b.html))", "WSGI", "web server gateway interface"),
        ("ORM stands for object relational mapper and is a layer", "ORM", "object relational mapper"),
        ("a department of defence (DoD) rule", "DoD", "department of defence"),
    ],
)
def test_definitions(text, acronym, meaning):
    assert [(p.acronym, p.meaning) for p in propose([(text, "page")])] == [(acronym, meaning)]


@pytest.mark.parametrize(
    "text",
    [
        "tools such as Werkzeug (WSGI) and Jinja",
        "the URL to be internal (False) or external (True)",
        "strict liability, or tort (INCLUDING negligence)",
        "the endpoint of the URL (name of the function)",
        "HTML (or XML)",
        "see the documentation (PDF)",
        "it stands for nothing",
    ],
)
def test_what_is_no_definition(text):
    assert propose([(text, "page")]) == ()


def test_proposals_are_a_glossary_that_can_be_read(tmp_path):
    pages = [
        ("Performance Monitoring (PM), the CLI (command line interface)", "https://docs/a.html"),
        ("Performance Management (PM)", "https://docs/b.html"),
        ("command line interface (CLI)", "https://docs/c.html"),
    ]
    file = tmp_path / "glossary.toml"
    file.write_text(toml(propose(pages), {}), "utf-8")
    assert load_glossary(file)["PM"] == ("performance management", "performance monitoring")
    assert "# command line interface: https://docs/a.html and 1 more\n" in file.read_text("utf-8")
    left = toml(propose(pages), {"CLI": ("Command Line Interface",), "PM": ("performance management",)})
    assert left.splitlines()[-1] == 'PM = "performance monitoring"'
    assert toml((), {}) == ""
