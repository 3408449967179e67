from dataclasses import replace

import pytest

from core.domain import ContextChunk, Evidence
from core.generation.context.by_rule import laid_out, reduce, select, shorten
from core.generation.quotes.blocks import split
from core.text.markup import GAP
from core.text.words import query_terms
from tests.core.generation.samples import SESSIONS, UPLOADS, evidence
from tests.processor import at_most


def rare(term: str) -> float:
    return 3.0 if len(term) > 4 else 1.0


def count(text: str) -> int:
    return (len(text) + 3) // 4


MIXED = f"{SESSIONS}\n\n### Weather\n\nIt rains on Mondays. Bring an umbrella.\n\n{UPLOADS}"


def test_blocks_stay_whole() -> None:
    kinds = [block.kind for block in split(MIXED)]
    assert kinds == [
        "paragraph",
        "code",
        "paragraph",
        "heading",
        "paragraph",
        "heading",
        "paragraph",
        "item",
        "item",
    ]
    assert "\n\n".join(b.text for b in split(MIXED)).replace("\n", "") == MIXED.replace("\n", "")


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("- a\n  more\n\n  para\n- b", ["item", "item"]),
        ("- a\n  ```\n  - x\n  ```\n- b", ["item", "item"]),
        ("````\n```\ninner\n```\n````\ntext", ["code", "paragraph"]),
        ("| a |\n|---|\n| b |\ntext", ["table", "paragraph"]),
        ("text\n```\ncode", ["paragraph", "code"]),
        ("> q\n> q\n\n---\n", ["quote", "rule"]),
        ("1. one\n2. two", ["item", "item"]),
        ("", []),
    ],
)
def test_markdown_is_cut_where_its_blocks_end(text: str, kinds: list[str]) -> None:
    assert [block.kind for block in split(text)] == kinds


def test_reduction_keeps_what_bears_on_the_question_with_its_code_and_heading() -> None:
    kept = reduce([evidence(1, MIXED)], query_terms("How do I use sessions with a secret key?"), rare, 0)
    assert "set a secret key" in kept[1] and "app.secret_key = b" in kept[1]
    assert "umbrella" not in kept[1] and "temporary" not in kept[1]
    uploads = reduce([evidence(1, MIXED)], query_terms("uploaded files"), rare, 0)[1]
    assert uploads.startswith("### File Uploads") and "secret" not in uploads


def test_chunks_without_anything_are_dropped() -> None:
    kept = reduce([evidence(1, MIXED), evidence(2, "Nothing here at all.")], query_terms("umbrella"), rare)
    assert list(kept) == [1]


def test_a_question_without_known_terms_keeps_everything() -> None:
    assert reduce([evidence(1, MIXED)], ["zzz"], lambda _: 0.0) == {1: MIXED}


def test_selection_prefers_what_adds_something() -> None:
    same = "Sessions need a secret key."
    found = [
        evidence(1, same),
        evidence(2, same),
        evidence(3, "Uploaded files go to a folder.", heading="Files"),
    ]
    terms = query_terms("sessions secret key and uploaded files")
    assert [e.number for e in select(found, terms, rare, keep=2)] == [1, 3]
    assert [e.number for e in select(found, terms, rare, texts={2: same}, keep=3)] == [2]


def test_it_is_quick() -> None:
    pages = [evidence(n, f"{MIXED}\n\n" * 4) for n in range(1, 9)]
    terms = query_terms("How do I use sessions with a secret key?")
    reduce(pages, terms, rare)
    with at_most(0.2):
        reduce(pages, terms, rare)


@pytest.mark.parametrize("limit", [30, 60, 120, 200])
def test_shortening_keeps_to_the_limit_and_to_whole_sentences(limit: int) -> None:
    short = shorten(MIXED, ("It rains on Mondays. Bring an umbrella.",), limit, count)
    assert count(short) <= limit
    assert "It rains on Mondays." in short
    for line in short.replace(GAP, "").split("\n"):
        assert line.strip() in MIXED


def test_what_fits_is_unchanged_and_long_code_is_closed() -> None:
    assert shorten(MIXED, (), 10_000, count) == MIXED
    code = "```py\n" + "\n".join(f"line_{n} = {n}" for n in range(100)) + "\n```"
    short = shorten(code, (), 50, count)
    assert count(short) <= 50 and short.startswith("```py\nline_0") and short.endswith("\n```")


def test_a_pages_own_heading_stands_over_its_own_text_and_nothing_is_said_twice() -> None:
    scheme = ContextChunk(
        "c1",
        "config.rst",
        "Configuration",
        "Values > PREFERRED_URL_SCHEME",
        "",
        "Use this scheme for generating external URLs.\n\nDefault: `'http'`",
        before="### APPLICATION_ROOT\n\nThe path under which it is mounted.",
        after="### MAX_CONTENT_LENGTH\n\nThe maximum number of bytes that will be read.",
    )
    length = ContextChunk(
        "c2",
        "config.rst",
        "Configuration",
        "Values > MAX_CONTENT_LENGTH",
        "",
        "The maximum number of bytes that will be read.\n\nDefault: `None`",
        before="### PREFERRED_URL_SCHEME\n\nUse this scheme for generating external URLs.",
    )
    again = replace(length, id="c3")
    laid = laid_out([Evidence(1, scheme, 1.0), Evidence(2, length, 0.9), Evidence(3, again, 0.8)])
    assert laid[1].whole == (
        "### APPLICATION_ROOT\n\nThe path under which it is mounted.\n\n"
        "### PREFERRED_URL_SCHEME\n\nUse this scheme for generating external URLs.\n\nDefault: `'http'`"
    )
    assert laid[2].whole == "The maximum number of bytes that will be read.\n\nDefault: `None`"
    assert 3 not in laid, "pages that say the same are one"
    other = replace(length, release="2.3")
    assert set(laid_out([Evidence(1, length, 1.0), Evidence(2, other, 0.9)])) == {1, 2}


def test_code_that_a_neighbour_only_begins_is_not_said_twice() -> None:
    whole = "```python\n@login_required\ndef create():\n    return render()\n```"
    create = ContextChunk("c1", "blog.rst", "Blog", "Create", "", f"Posts are created here.\n\n{whole}")
    cut = "### Create\n\n```python\n@login_required\ndef create():\n```"
    index = ContextChunk("c2", "blog.rst", "Blog", "Index", "", "All posts.", after=cut)
    laid = laid_out([Evidence(1, index, 1.0), Evidence(2, create, 0.9)])
    assert laid[1].whole == "All posts."
    assert laid_out([Evidence(1, index, 1.0)])[1].whole == f"### Index\n\nAll posts.\n\n{cut}"


def test_a_short_section_is_never_reduced() -> None:
    page = "Use this scheme for generating external URLs.\n\nDefault: `'http'`\n\nChanged in version 2.2."
    texts = reduce([evidence(1, page)], query_terms("scheme"), rare)
    assert texts[1] == page


def test_a_table_without_room_is_cut_between_its_rows_beside_its_caption() -> None:
    rows = "\n".join(f"| Job {n} | {n} s |" for n in range(60))
    text = (
        f"Some jobs take longer.\n\nTable: Longest jobs\n\n| Job | Time |\n| --- | --- |\n{rows}\n\nThe end."
    )
    short = shorten(text, ("Table: Longest jobs",), 120, count)
    assert "Table: Longest jobs\n\n| Job | Time |" in short and "| Job 3 | 3 s |" in short
    assert count(short) <= 120 and "| Job 59 |" not in short


def test_a_heading_whose_text_has_no_room_is_left_out() -> None:
    told, long = "It needs a secret key.", "Of something else is told here. " * 30
    text = f"{told}\n\n**Of something else**\n\n{long.strip()}"
    code = f"{told}\n\n**Of something else**\n\n```\n{long}\n```"
    assert shorten(code, (told,), 40, count) == f"{told}\n\n{GAP}"
    assert "**Of something else**" in shorten(text, (told,), 60, count), "where its text begins it stays"


def test_what_manuals_share_is_read_once() -> None:
    shared = "Give an address as `ssh://host/path`.\n\nA helper may be named before it."
    first = evidence(1, shared, title="push", heading="ADDRESSES")
    copy = evidence(2, f"{shared}\n\nBye.", title="fetch", heading="ADDRESSES")
    other = evidence(3, f"{shared}\n\nBesides, `fetch` takes several of them at once.", title="fetch")
    assert [*laid_out([first, copy, other])] == [1, 3]


def test_reduction_keeps_the_first_paragraph_of_what_it_keeps() -> None:
    first, filler = "Set to `True` to cut values at commas (default `False`).", "It boils. " * 140
    page = f"`Pot.auto_cut: bool`\n\n{first}\n\n{filler}\n\nIn this mode the secret key is cut at commas."
    kept = reduce([evidence(1, page, heading="Pot.auto_cut")], query_terms("secret key"), lambda _: 1.0)[1]
    assert first in kept and "secret key" in kept and "It boils" not in kept
    other = f"{first}\n\n{filler}\n\n### Lids\n\nThe secret key is under the lid."
    kept = reduce([evidence(1, other, heading="Pot")], query_terms("secret key"), lambda _: 1.0)[1]
    assert first not in kept and "under the lid" in kept


def test_a_heading_stands_over_what_its_section_says_before_a_page() -> None:
    """Cut in two, a section's second page is read with the end of the first before it."""
    of_it = evidence(1, "Files are kept in memory.", heading="Files").chunk
    page = replace(of_it, before="The folder is set below:")
    whole = laid_out([Evidence(1, page, 1.0)])[1].whole
    assert whole == "### Files\n\nThe folder is set below:\n\nFiles are kept in memory."
    other = replace(page, before="### Weather\n\nIt rains on Mondays.")
    whole = laid_out([Evidence(1, other, 1.0)])[1].whole
    assert whole.startswith("### Weather\n\nIt rains on Mondays.\n\n### Files\n\nFiles are kept")


def test_an_end_that_is_left_out_shows() -> None:
    kept = reduce([evidence(1, MIXED)], query_terms("umbrella"), rare, 0)[1]
    assert kept.endswith(f"umbrella.\n\n{GAP}")
    ends = "The key is kept secret.\n\nBring an umbrella."
    assert reduce([evidence(1, ends)], query_terms("umbrella"), rare, 0)[1].endswith("umbrella.")


def test_the_best_pages_stay_whole() -> None:
    other = "Bring an umbrella.\n\nIt is green. Nobody knows why, and nobody asks."
    pages = [evidence(1, MIXED), evidence(2, other)]
    kept = reduce(pages, query_terms("umbrella"), rare, 0, whole=1)
    assert kept == {1: MIXED, 2: f"Bring an umbrella.\n\n{GAP}"}
