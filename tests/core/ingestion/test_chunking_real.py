"""Chunks of real text, this project's own documents: nothing is cut inside, questions keep their answers.

The atoms are found here by other means than `core.ingestion.blocks`: lines between fences, lines that begin
with a bar, items of lists, and sentences of what is left.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain import ChunkedDocument, Document, RawDocument, Section
from core.ingestion.blocks import groups, is_question, pieces
from core.ingestion.chunking import SENTENCES, chunk
from core.ingestion.parsing import parse
from core.text.words import sentences
from tests.core.ingestion.test_chunking import count
from tests.effort import examples

ROOT = Path(__file__).parents[3]


@cache
def real_sections() -> tuple[Section, ...]:
    """Return the sections of every document of this project that have more than a line."""
    files = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
    documents = [parse(RawDocument(f.name, "https://x.example/", f.read_bytes(), "markdown")) for f in files]
    return tuple(s for document in documents for s in document.sections if len(s.text) > 200)


SECTIONS = st.integers(0, 10**6).map(lambda n: real_sections()[n % len(real_sections())])


def atoms_of(text: str) -> list[str]:
    """Return the code lines, table rows, list lines and sentences of a section."""
    found: list[str] = []
    mark = ""
    for line in text.split("\n"):
        fence = re.match(r"\s*(`{3,})", line)
        if fence and (not mark or fence[1] == mark):
            mark = "" if mark else fence[1]
        elif mark or re.match(r"\s*(?:\||[-*+]\s|\d+[.)]\s)", line):
            found.append(line)
        else:
            found += sentences(line.strip())
    return [atom.strip() for atom in found if atom.strip() and not re.fullmatch(r"[\s|:-]+", atom)]


def flat(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def cut(section: Section, max_tokens: int, page: int) -> ChunkedDocument:
    return chunk(
        Document("a.md", "T", "https://x.example/", (section,)),
        release="1",
        source="x",
        count_tokens=count,
        max_tokens=max_tokens,
        page_characters=page,
    )


def test_there_is_enough_real_text_of_every_kind():
    text = "\n\n".join(section.text for section in real_sections())
    assert len(atoms_of(text)) > 800
    assert text.count("\n| ") > 100
    assert text.count("```") > 20
    assert sum(is_question(s) for s in atoms_of(text)) > 10


@settings(max_examples=examples(150), deadline=None)
@given(SECTIONS, st.integers(60, 260), st.integers(500, 3_000))
def test_no_sentence_code_line_or_row_is_cut(section, max_tokens, page):
    made = cut(section, max_tokens, page)
    searches = [flat(s.text) for s in made.searches]
    pages = [flat(c.page) for c in made.contexts]
    head = max((count(row) for row in re.findall(r"^\|.*\n\|[ -|]*$", section.text, re.M)), default=0)
    for atom in atoms_of(section.text):
        if len(atom) + 40 >= page - (page // 3 if head else 0):
            continue  # longer than a page
        whole = flat(atom)
        assert any(whole in text for text in pages), atom
        # Titles may take a quarter of the tokens, a fence and a table's header some more.
        if count(atom) <= max_tokens * 0.7 - head - 12:
            assert any(whole in text for text in searches), atom


@settings(max_examples=examples(100), deadline=None)
@given(SECTIONS, st.integers(1_500, 3_000))
def test_what_surrounds_a_page_is_whole_too(section, page):
    made = cut(section, 256, page)
    atoms = {flat(atom) for atom in atoms_of(section.text)}
    pages = [flat(context.page) for context in made.contexts]
    for context in made.contexts:
        for quoted in (context.before, context.after):
            text = re.sub(r"\A### [^\n]*\n\n", "", quoted)
            for atom in atoms_of(text):
                whole = flat(atom)
                assert whole in atoms or any(whole in other for other in pages), atom
            if text and not text.startswith(("```", "|")):
                begun = flat(text)
                assert any(begun.startswith(atom[:60]) for atom in atoms), text[:80]


@settings(max_examples=examples(150), deadline=None)
@given(SECTIONS, st.integers(60, 260))
def test_a_question_stays_with_what_follows(section, max_tokens):
    made = cut(section, max_tokens, 2_000)
    searches = [flat(s.text) for s in made.searches]
    for piece in pieces(section.text):
        if piece.kind != "prose" or piece.joint != " ":
            continue
        for asked, answer in zip(piece.atoms, piece.atoms[1:], strict=False):
            both = f"{asked} {answer}"
            if is_question(asked) and not is_question(answer) and count(both) < max_tokens / 4:
                assert any(flat(both) in text for text in searches), both


@settings(max_examples=examples(100), deadline=None)
@given(SECTIONS)
def test_other_sentences_go_in_groups_of_three(section):
    for piece in pieces(section.text):
        if piece.kind == "prose":
            made = groups(piece, SENTENCES)
            assert [atom for group in made for atom in group.atoms] == list(piece.atoms)
            for group in made[:-1]:
                assert len(group.atoms) >= SENTENCES
                assert len(group.atoms) == SENTENCES or is_question(group.atoms[-2])
                assert not is_question(group.atoms[-1])
