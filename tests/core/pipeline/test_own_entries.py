"""A setting that a question names is told by its own entry, also where other pages speak of it more."""

from __future__ import annotations

import pytest

from core.domain import Document, Product, Question, Release, Section
from core.pipeline.context import QueryContext
from core.pipeline.stage import run
from core.recipes import recipe_of
from tests.core.evaluation.small import house

ENTRY = "Reject the request unless its target is one of ours."


async def found(text: str) -> list[str]:
    """Return the paths of what is found for a question, best first."""
    pages = [
        Document(
            f"p{n}.md",
            f"Guide {n}",
            f"https://k/{n}",
            (
                Section(
                    (f"Guide {n}",),
                    "",
                    f"What does `reject_other` do here: it does its part after `allow_{n}`, and more than"
                    f" `reject_other` does alone; set `setting = reject_other` in list {n}.",
                ),
            ),
        )
        for n in range(12)
    ]
    entries = (
        Section(("Reference", "reject_other"), "reject_other", ENTRY),
        Section(("Reference", "takeOther"), "takeOther", "Takes what is left."),
        Section(("Reference", "Pot.boil_all"), "boil_all", "Boils all."),
    )
    pages.append(Document("reference.md", "Reference", "https://k/reference", entries))
    made, _ = await house(Product("Kettle", (), (Release("1.0", latest=True),)), {"1.0": pages})
    context = QueryContext(Question(text), is_draft=True, withheld=frozenset({"memory"}))
    await run(recipe_of("threadlore")(made.parts), context)
    return [item.chunk.heading for item in context.pages.evidence]


async def test_the_entry_of_a_named_setting_stands_second_where_it_was_not_found() -> None:
    headings = await found("what does reject_other do in the guide")
    assert headings[1] == "Reference > reject_other" and headings[0].startswith("Guide")
    assert len(headings) == len(set(headings))


@pytest.mark.parametrize("named", ["reject_other()", "Kettle.reject_other", "reject", "rejectOther"])
async def test_what_is_called_or_belongs_to_something_is_left_to_the_search(named: str) -> None:
    headings = await found(f"what does {named} do in the guide")
    assert headings[1] != "Reference > reject_other"
