"""Composite questions quoted part by part, and what is said of a part without evidence."""

from __future__ import annotations

from core.generation.composite import Part, quote_parts
from core.generation.phrases import nothing_on
from tests.core.generation.samples import SESSIONS, UPLOADS, evidence


def part(text: str, page: str, *terms: str, number: int = 1, heading: str = "Sessions") -> Part:
    return Part(text, terms, [evidence(number, page, heading=heading)], lambda term: 1.0)


def test_each_part_is_quoted_under_its_own_question_with_citations_numbered_through() -> None:
    parts = [
        part("How do I use sessions?", SESSIONS, "session", "secret", "key"),
        part("How do I upload?", UPLOADS, "upload", "file", "multipart", heading="Uploads"),
    ]
    text, citations, missed = quote_parts(parts, "Flask", "3.1")
    assert [c.number for c in citations] == [1, 2] and missed == ()
    first, second = text.split("*How do I upload?*")
    assert "*How do I use sessions?*" in first and first.rstrip().endswith(("[1]", "```"))
    assert "[1]" in first and "[2]" not in first and "[2]" in second and "[1]" not in second


def test_a_page_that_answers_two_parts_is_cited_once() -> None:
    parts = [
        part("How do I use sessions?", SESSIONS, "secret", "key"),
        part("How long do they live?", SESSIONS, "cookie", "live", "browser"),
    ]
    text, citations, _ = quote_parts(parts, "Flask", "3.1")
    assert [c.number for c in citations] == [1]
    assert "[1]" in text.split("*How long do they live?*")[1]


def test_a_part_of_which_nothing_can_be_quoted_is_told() -> None:
    parts = [part("How do I fly?", "", "fly"), part("How do I upload?", UPLOADS, "upload", "file")]
    text, citations, missed = quote_parts(parts, "Flask", "3.1")
    assert missed == ("How do I fly?",) and len(citations) == 1
    assert "*How do I fly?*" not in text
    assert quote_parts(parts[:1], "Flask", "3.1") == ("", (), ("How do I fly?",))


def test_what_several_releases_say_on_a_part_stands_under_one_title() -> None:
    parts = [
        part("How do I fly?", "", "fly"),
        part("How do I fly?", "", "fly"),
        part("How do I upload?", "", "upload"),
        part("How do I upload?", UPLOADS, "upload", "file", number=2),
        part("How do I upload?", SESSIONS, "secret", "key", number=3),
    ]
    text, citations, missed = quote_parts(parts, "Flask", "2.0+3.1")
    assert text.count("*How do I upload?*") == 1 and len(citations) == 2
    assert missed == ("How do I fly?",)


def test_a_number_inside_a_quote_or_in_code_is_not_renumbered() -> None:
    code = "```\nupload = file[1]\nmore = file[2]\nend = file[3]\n```"
    page = f"The list `items[1]` holds the upload [7] of the file.\n\n{code}"
    parts = [
        part("How do I use sessions?", SESSIONS, "session", "secret"),
        part("Upload?", page, "upload", "file", heading="Uploads"),
    ]
    text, _, _ = quote_parts(parts, "Flask", "3.1")
    quoted = text.split("*Upload?*")[1]
    assert "`items[1]`" in quoted and "[7] of the file. [2]" in quoted


def test_what_is_missing_is_said_with_the_release() -> None:
    assert nothing_on((), "Flask", "3.1") == ""
    told = nothing_on(("How do I fly?", "And swim?"), "Flask", "2.0+3.1")
    assert told == (
        "I found nothing in the Flask 2.0 and 3.1 documentation on “How do I fly?” and on “And swim?”."
    )
    translated = nothing_on(("How do I fly?",), "Flask", "3.1", translated=True)
    assert translated == "I found nothing in the Flask 3.1 documentation on a part of the question."


def test_two_parts_that_the_same_quote_answers_stand_above_it_together() -> None:
    parts = [
        part("How do I use sessions?", SESSIONS, "session", "secret", "key"),
        part("Do I need a key?", SESSIONS, "session", "secret", "key"),
    ]
    text, citations, missed = quote_parts(parts, "Flask", "3.1")
    assert text.startswith("*How do I use sessions?*\n\n*Do I need a key?*\n\n**")
    assert text.count("> ") == quote_parts(parts[:1], "Flask", "3.1")[0].count("> ")
    assert len(citations) == 1 and missed == ()


def test_that_there_is_more_is_said_once_below_all_parts() -> None:
    filler = "\n\n".join(f"Nothing of interest stands in paragraph {n}, long as it is." * 8 for n in range(4))
    session = f"Set a secret key for a session.\n\n{filler}"
    parts = [
        part("How do I use sessions?", session, "session", "secret", "key"),
        part("Upload?", f"Send an upload as a file.\n\n{filler}", "upload", "file", heading="Uploads"),
    ]
    text, _, _ = quote_parts(parts, "Flask", "3.1")
    assert text.endswith("There is more on these pages. [1][2]") and text.count("There is more") == 1
