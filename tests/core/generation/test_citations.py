from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain import Citation, sources
from core.generation.checked.raw import plain
from core.generation.checked.statements import settled
from core.generation.citations import clean, following, remarked, uncited
from tests.core.generation.samples import SESSIONS, UPLOADS, evidence
from tests.processor import at_most
from tests.readers import commonmark

EVIDENCE = [
    evidence(
        1, "Open http://127.0.0.1:5000 now.", url="https://docs.io/a/#x", heading="Quickstart > Sessions"
    ),
    evidence(2, "Two.", url="https://docs.io/b/"),
    evidence(3, "Three.", url="https://docs.io/c/#y"),
]


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("A [3]. B [1, 3]. C [9].", "A [1]. B [2][1]. C."),
        ("X [1][2][2] y [^3], 【2】, 【1†source】 [Source 2] (Source 3).", "X [1][2] y [3][2][1]."),
        ("Text [1](https://evil.com) and [[2]] and \\[3\\].", "Text [1] and [2] and [3]."),
        ("Ranges [1-3] and [1–2].", "Ranges [1][2][3] and [1][2]."),
        ("a [Sources 1 and 2] b [1;3] c [evidence 2, evidence 3]", "a [1][2] b [1][3] c [2][3]"),
        ("[1] says so. [2] too.", "[1] says so. [2] too."),
        ("| a | b |\n|---|---|\n| x [2] | y [7] |", "| a | b |\n|---|---|\n| x [1] | y |"),
        ("1. Do x [1]\n2. Do y [4]\n   - sub [2].", "1. Do x [1]\n2. Do y\n   - sub [2]."),
        ("[404] Not found, call run() [2].", "[404] Not found, call run() [1]."),
        ("Answer [2].\n\nSources:\n- [2] Title https://x.y\n- [1] foo", "Answer [1]."),
        ("Answer [2].\n\n**References**\n\n[1]: https://evil.com\n[2]: https://docs.io/b/", "Answer [1]."),
        ("Sources:\nThe text goes on [2].", "Sources:\nThe text goes on [1]."),
    ],
)
def test_only_true_citations_survive_in_one_form(written: str, wanted: str) -> None:
    assert clean(written, EVIDENCE).text == wanted


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        (
            "See [the docs](https://evil.com/x) and [b](https://docs.io/b/).",
            "See the docs and [b](https://docs.io/b/).",
        ),
        ("Look at https://evil.com. Also <https://evil.com/z>.", "Look. Also."),
        ("See (https://evil.com) for more.", "See for more."),
        ("[https://evil.com](https://evil.com) x", "x"),
        ("See [here][ref].\n\n[ref]: https://evil.com", "See here."),
        ("<https://evil.com|click me> or www.evil.com/x", "click me"),
        ("![alt](https://evil.com/t.png) text", "alt text"),
        ("Use [click](javascript:alert(1)) ok", "Use click ok"),
        ('<a href="https://evil.com">x</a>', "x"),
        ("[a](https://docs.io/a/) [b](https://docs.io/a/#invented)", "[a](https://docs.io/a/) b"),
        ("Plain https://docs.io/b/.", "Plain https://docs.io/b/."),
        ("Open http://127.0.0.1:5000 in a browser.", "Open `http://127.0.0.1:5000` in a browser."),
    ],
)
def test_only_the_evidences_own_links_survive(written: str, wanted: str) -> None:
    assert clean(written, EVIDENCE).text == wanted


@pytest.mark.parametrize(
    "written",
    [
        "[a [b [c]]](https&#58;//evil.com)",
        "[a [b [c]]](https\\://evil.com)",
        "[x]\n\n[x]:\nhttps&#58;//evil.com",
        "> [x]: https&colon;//evil.com\n\n[x]",
        "[a\\]b][]\n\n[a\\]b]: https&colon;//evil.com",
        "\\`[Log in](https://evil.com)\\`",
        "foo\n    ~~~\n[Log in](https://evil.com)\n    ~~~",
        "```js `x` [Log in](https://evil.com)\nfoo",
        "> ```\n[Log in](https://evil.com)",
        "<tel:123> <steam://run/1> <vscode:x> <https://evil.com|text>",
        "| ` | [x](https&colon;//evil.com) ` |\n|--|--|\n| ` | [x](https&colon;//evil.com) ` |",
        "[[a](//evil.com) b](https://docs.io/a/)",
        "[x](https:evil.com) [y](//evil.com) [z](/evil) [w](h\u200bttps://evil.com)",
        "[x](https://evil.com 'a (b) c') [x](\nhttps://evil.com\n) [x](<https://evil.com/a b>)",
        "**a `` b ` c** d ` [x](https&colon;//evil.com)`",
        "<https://x/`>[Log in](https&colon;//evil.com)`",
        "- ```\n  x\n[Log in](https://evil.com)\n  ```",
    ],
)
def test_no_form_of_a_link_gets_past(written: str) -> None:
    read = commonmark(clean(written, EVIDENCE).text)
    assert {target for _, target in read.links} <= {"https://docs.io/a/"} and not read.acts


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("Go to evil.com or еvil.org/login now.", "Go to `evil.com` or `еvil.org/login` now."),
        ("See docs.io/b and docs.io.", "See docs.io/b and docs.io."),
        (
            "Call `flask.g`, app.run(), os.path and README.md.",
            "Call `flask.g`, app.run(), os.path and README.md.",
        ),
        ("Set a.b.c to 1.2.3, e.g. in x.py/y.", "Set a.b.c to 1.2.3, e.g. in `x.py/y`."),
    ],
)
def test_a_host_that_no_page_names_cannot_be_clicked(written: str, wanted: str) -> None:
    """Slack links what looks like a host, without any scheme before it."""
    assert clean(written, EVIDENCE).text == wanted


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        (
            "Take items[0] and sys.argv[1] of my_list[2] [3].",
            "Take items[0] and sys.argv[1] of my_list[2] [1].",
        ),
        ("The first is args[1], the name is rows[2].", "The first is args[1], the name is rows[2]."),
        ("It is value2[1] and getItems[2] [2].", "It is value2[1] and getItems[2] [1]."),
        ("Set the key[2]. Then go[1].", "Set the key[1]. Then go[2]."),
        ("Call run()[2].", "Call run()[1]."),
        ("Call `go()` (2):\nOr `stay()` (1). See [2].", "Call `go()` [1]:\nOr `stay()` [2]. See [1]."),
        ("Set the key [2].\n\n**Sources** [A › B](https://a/b#c) [C](https://c)", "Set the key [1]."),
        ("Set the key (2). Then (1) go and (3) stay.", "Set the key [1]. Then (1) go and (3) stay."),
        ("The code is exit (1) [2].", "The code is exit (1) [1]."),
        ("Set the key (1)[2].", "Set the key[1]."),
        ("Set the key [2] (1).", "Set the key [1]."),
        ("需要密钥（证据2）。", "需要密钥 [1]。"),
        ("需要密钥 证据2、3。", "需要密钥 [1][2]。"),
        ("需要密钥[证据 2]。", "需要密钥[1]。"),
        ("Man braucht den Schlüssel (Evidenz 2).", "Man braucht den Schlüssel [1]."),
        ("Set the key (evidence 2).", "Set the key [1]."),
        ("According to evidence 3, it is on.", "[1] it is on."),
        ("It is on. Source: Evidence 2", "It is on. [1]"),
        ("It is on.\n\nSource: Evidence 2", "It is on.\n\n[1]"),
        ("It is on (see source 9).", "It is on."),
        ("It is on, as evidence 2 and 3 say.", "It is on, as [1][2] say."),
        ("It returns [1, 2, 3] [2].", "It returns [1, 2, 3] [1]."),
        ("The list is [1, 2] then, x = [3,1] before [3].", "The list is [1, 2] then, x = [3,1] before [1]."),
        ("Give it [0, 1] and values: [1, 2] [2].", "Give it [0, 1] and values: [1, 2] [1]."),
        ("Call `f` for [1, 2]: that gives\n[2, 3] [1].", "Call `f` for [1, 2]: that gives\n[2, 3] [1]."),
        ("It is on [2, 3]. So say [1, 3], as in [1, 2].", "It is on [1][2]. So say [3][2], as in [3][1]."),
        ("It is on ([2, 3]). Off, [1,2].", "It is on ([1][2]). Off, [3][1]."),
        ("Call max([1, 2]) or max(x, [1, 3]) [3].", "Call max([1, 2]) or max(x, [1, 3]) [1]."),
    ],
)
def test_citations_in_other_forms_and_what_only_looks_like_one(written: str, wanted: str) -> None:
    assert clean(written, EVIDENCE).text == wanted


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        (
            "Two ways. According to Evidence 2, `a.b` is on. As stated in evidence 1, set it.",
            "Two ways. `a.b` is on [2]. Set it [1].",
        ),
        (
            "It can. Evidence 2 says that it is on, e.g. `x`. Evidence 3 and 1 also list it.",
            "It can. It is on, e.g. `x` [2]. The documentation I found also lists it [3][1].",
        ),
        (
            "[2] describes it:\n- Evidence 3 has it [3]",
            "The documentation I found describes it [2]:\n- The documentation I found has it [3]",
        ),
        ("It can. Laut Evidenz 2 geht es.", "It can. Laut der gefundenen Dokumentation geht es [2]."),
        ("It is on. [2] Shows are off. [3]", "It is on. [2] Shows are off. [3]"),
        ("According to evidence 1, and evidence 2, it is on.", "It is on [1][2]."),
        ("Evidence 1 says that it is on; evidence 2 has more.",) * 2,
    ],
)
def test_a_sentence_that_names_its_evidence_cites_it_at_its_end(written: str, wanted: str) -> None:
    assert plain(written) == wanted


def test_what_nobody_sees_is_no_part_of_an_answer() -> None:
    assert clean("ri\u200bght\u202e \U000e0041[1]", EVIDENCE).text == "right [1]"


@pytest.mark.parametrize(
    "code",
    [
        "```py\nx[1] = a[9]  # https://evil.com\n```",
        "~~~\n[9](https://evil.com)\n~~~",
        "Use `argv[9]` and `http://localhost:1`.",
        "- item\n\n  ```sh\n  curl https://evil.com [7]\n  ```",
        "```\nnever closed [9] https://evil.com",
    ],
)
def test_code_is_left_alone(code: str) -> None:
    assert clean(code, EVIDENCE).text == code


def test_citations_are_numbered_by_first_use_and_say_where_they_point() -> None:
    cleaned = clean("A [3]. B [1].", EVIDENCE)
    assert [c.url for c in cleaned.citations] == ["https://docs.io/c/#y", "https://docs.io/a/#x"]
    assert [c.number for c in cleaned.citations] == [1, 2]
    last = cleaned.citations[1]
    assert (last.title, last.url, last.release) == ("Quickstart › Sessions", "https://docs.io/a/#x", "3.1")
    assert last.hash == EVIDENCE[0].chunk.hash


def test_an_answer_without_citations_gets_none() -> None:
    cleaned = clean("Just so.", EVIDENCE)
    assert (cleaned.text, cleaned.citations) == ("Just so.", ())
    assert clean("So [2].", EVIDENCE).citations


@given(
    st.lists(
        st.sampled_from(
            ["[1]", "[7]", " a", "(", ")", "[", "]", "`", "```\n", "\n", "https://evil.com", "<", ">"]
        )
    )
)
def test_whatever_is_written_no_false_citation_and_no_foreign_link_is_left(parts: list[str]) -> None:
    text = clean("".join(parts), EVIDENCE).text
    if "`" not in text:
        assert "[7]" not in text
        assert "https://evil.com" not in text


@pytest.mark.parametrize(
    "text", ["[" * 4000, "[1](" * 2000, "`" * 4001 + "x", "<http:" * 1500, " " * 9000 + "x", "- [1] \n" * 800]
)
def test_hostile_text_costs_little_time(text: str) -> None:
    with at_most(3.0):
        clean(f"Sources:\n{text}", EVIDENCE)


@pytest.mark.parametrize(
    ("growing", "shown"),
    [
        ("abc [1", "abc"),
        ("abc [1]", "abc"),
        ("abc [1] d", "abc [1] d"),
        ("abc https://x.y/", "abc"),
        ("abc [x](http://", "abc"),
        ("abc <http", "abc"),
        ("abc (see", "abc (see"),
        ("foo.", "foo."),
    ],
)
def test_what_is_still_being_written_is_not_shown(growing: str, shown: str) -> None:
    assert settled(growing) == shown


def test_a_list_of_numbers_is_no_mark() -> None:
    assert uncited("It returns [1, 2] [1].") == "It returns [1, 2]."
    assert remarked("It returns [1, 2] [1].", {1: [3], 2: [4]}) == "It returns [1, 2] [3]."


def test_marks_of_another_answer_can_be_taken_away() -> None:
    assert uncited("Use it [3]. `a[1]` [1, 2]") == "Use it. `a[1]`"


def test_pieces_of_one_section_are_one_source_under_the_titles_of_all() -> None:
    pieces = (
        evidence(1, SESSIONS, heading="request", url="https://docs.example.org/templates/#context"),
        evidence(2, UPLOADS, heading="Uploads"),
        evidence(3, SESSIONS, heading="session", url="https://docs.example.org/templates/#context"),
    )
    told = clean("One [3], another [1, 2], both [1][3].", pieces)
    assert told.text == "One [1], another [1][2], both [1]."
    assert [(c.number, c.title) for c in told.citations] == [
        (1, "Quickstart › session"),
        (1, "Quickstart › request"),
        (2, "Quickstart › Uploads"),
    ]
    assert [(c.number, c.title) for c in sources(told.citations)] == [
        (1, "Quickstart › session, request"),
        (2, "Quickstart › Uploads"),
    ]


def test_pages_whose_sections_have_no_link_of_their_own_are_told_apart_by_their_titles() -> None:
    pieces = (
        evidence(1, SESSIONS, heading="A", url="https://docs.example.org/one"),
        evidence(2, SESSIONS, heading="B", url="https://docs.example.org/one"),
        evidence(3, UPLOADS, heading="A", url="https://docs.example.org/one"),
    )
    assert [c.number for c in clean("See [1], [2] and [3].", pieces).citations] == [1, 2, 1]


def test_what_follows_is_numbered_after_what_stands_before_it() -> None:
    first, second, third = (Citation(n, f"Page {n}", f"https://k/{n}", "1.0", f"{n}.md") for n in (1, 2, 3))
    text, cited = following(
        "So [1]. And `a[1]` [2][1].", (replace(third, number=1), replace(first, number=2)), (first, second)
    )
    assert text == "So [3]. And `a[1]` [1][3]."
    assert [(one.number, one.title) for one in cited] == [(1, "Page 1"), (2, "Page 2"), (3, "Page 3")]
