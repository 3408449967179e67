"""One Markdown for every platform: text, sources, the release it speaks for."""

from __future__ import annotations

from bot.rendering.answers import SOURCES, compose, growing, said
from core.domain import Answer, Citation, ContextChunk, Evidence
from core.languages import speaking

CITATION = Citation(1, "Config [all]", "https://docs.example/config/#DEBUG", "2.3", "config.rst")


def test_an_answer_shows_its_sources_and_its_release() -> None:
    reply = compose(Answer("a1", "Set it. [1]", "documents", "2.3", (CITATION,)), "Flask")
    assert reply.markdown == (
        "Set it. [1]\n\n"
        f"**{SOURCES}**\n[1] [Config (all)](https://docs.example/config/#DEBUG)\n\n"
        "*Flask 2.3 · written from the documentation*"
    )
    assert (reply.final, reply.release, reply.answer_id) == (True, "2.3", "a1")


def test_what_an_answer_said_has_neither_its_sources_nor_the_line_under_them() -> None:
    answer = Answer("a1", "Set it. [1]", "documents", "2.3", (CITATION,))
    assert said(compose(answer, "Flask").markdown) == "Set it. [1]"
    with speaking("de"):
        assert said(compose(answer, "Flask").markdown) == "Set it. [1]"
    assert said("Look into the **Sources** of it.") == "Look into the **Sources** of it."


def test_further_sections_stand_under_the_sources_as_links() -> None:
    pages = [
        {"title": "Config › [all]", "url": "https://docs.example/config/#all", "path": "config.rst"},
        {"title": "Logging", "url": "https://docs.example/logging/", "path": "logging.rst"},
    ]
    answer = Answer("a1", "Set it. [1]", "quote", "2.3", (CITATION,), trace={"further": pages})
    text = compose(answer, "Flask").markdown
    linked = "*See also:* [Config › (all)](https://docs.example/config/#all) · [Logging](https://docs.example/logging/)"
    assert f"#DEBUG)\n\n{linked}\n\n*Flask 2.3" in text
    assert said(text) == "Set it. [1]"


def test_a_sentence_stands_beside_further_sections_where_one_message_has_room() -> None:
    page = {"title": "Logging", "url": "https://docs.example/log/", "text": "What goes to the `log`."}
    bare = {"title": "Config", "url": "https://docs.example/config/"}

    def shown(text: str) -> str:
        answer = Answer("a1", text, "quote", "2.3", (CITATION,), trace={"further": [page, bare]})
        return compose(answer, "Flask").markdown

    links = "[Logging](https://docs.example/log/)", "[Config](https://docs.example/config/)"
    listed = f"*See also:*\n- {links[0]}: What goes to the `log`.\n- {links[1]}\n\n*Flask 2.3"
    assert listed in shown("Set it. [1]")
    assert said(shown("Set it. [1]")) == "Set it. [1]"
    assert f"*See also:* {' · '.join(links)}\n\n*Flask 2.3" in shown(f"{'Set it. ' * 230}[1]")


def test_two_pieces_of_one_section_are_one_source_under_both_titles() -> None:
    url = "https://docs.example/templates/#context"
    pieces = tuple(Citation(1, f"Templates › {name}", url, "2.3", "t.rst", name) for name in ("g", "request"))
    reply = compose(Answer("a1", "So. [1]", "quote", "2.3", pieces), "Flask")
    assert f"**{SOURCES}**\n[1] [Templates › g, request]({url})\n\n*Flask" in reply.markdown


def test_a_source_without_a_link_is_no_broken_link() -> None:
    reply = compose(Answer("a1", "Yes. [1]", "quote", "2.3", (Citation(1, "Notes", "", "2.3", "n.md"),)), "F")
    assert "[1] Notes" in reply.markdown
    assert "()" not in reply.markdown


def test_a_comparison_names_both_releases() -> None:
    assert "Flask 2.0 and 2.3" in compose(Answer("a1", "x", "documents", "2.0+2.3"), "Flask").markdown


def test_a_comparison_says_of_each_source_which_release_it_is_of() -> None:
    cited = tuple(
        Citation(number, "Debug", f"https://docs.example/{release}/#debug", release, "d.rst")
        for number, release in enumerate(("2.0", "2.3"), start=1)
    )
    said = compose(Answer("a1", "So [1][2].", "quote", "2.0+2.3", cited), "Flask").markdown
    assert "[1] [Debug (Flask 2.0)](https://docs.example/2.0/#debug)\n[2] [Debug (Flask 2.3)](" in said


def test_an_answer_without_a_release_claims_none() -> None:
    said = "I have no docs for Flask 9."
    assert compose(Answer("a1", said, "abstain", ""), "Flask").markdown == said


def test_the_pages_stand_there_before_the_first_word() -> None:
    chunk = ContextChunk("c", "config.rst", "Config", "Config > DEBUG", "https://docs.example/c", "text")
    early = growing("", "Flask", "2.3", [Evidence(1, chunk, 1.0)])
    assert not early.final
    assert "[Config › DEBUG](https://docs.example/c)" in early.markdown
    assert growing("Half a", "Flask", "2.3", ()).markdown == "Half a …"


def test_what_a_person_answered_is_said_to_be_theirs() -> None:
    cited = (Citation(1, "Answer by Hal", "https://chat.example/7", "2.3", ""),)
    said = compose(Answer("a1", "So.", "reuse", "2.3", cited, trace={"origin": "person"}), "Flask").markdown
    assert "[1] [Answer by Hal](https://chat.example/7)" in said
    assert "Flask 2.3 · from community memory, answered by a person" in said
