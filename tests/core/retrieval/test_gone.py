"""What release notes say of a name that is gone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain import ContextChunk
from core.generation.quotes.listing import successors
from core.retrieval.release_notes.gone import (
    ended,
    fates,
    of_function,
    of_question,
    of_variables,
    stays,
    summed_up,
)

Version = tuple[int, ...]


def note(version: Version, text: str) -> tuple[Version, ContextChunk]:
    heading = f"Changes > Version {'.'.join(map(str, version))}"
    return version, ContextChunk(str(version), "", "Kettle", heading, "", text)


def told(name: str, *notes: tuple[Version, str]) -> list[tuple[str, Version]]:
    return [(one.fate, one.version) for one in fates(name, [note(*entry) for entry in notes])]


def fate(name: str, line: str) -> str | None:
    found = told(name, ((1, 0), f"- {line}"))
    return found[0][0] if found else None


def test_what_notes_tell_is_told_newest_first_and_summed_up_by_first_versions() -> None:
    notes = [
        ((2, 1, 0), "- `old_call` is deprecated. Use `call` instead.\n- `old_call` takes text."),
        (
            (2, 3, 0),
            "Released\n\n- Remove what was deprecated. #12\n  - The `kettle.old_call` function.\n- Fix it.",
        ),
        ((2, 2, 0), "- `old_call` remains deprecated."),
    ]
    assert told("old_call", *notes) == [
        ("removed", (2, 3, 0)),
        ("deprecated", (2, 2, 0)),
        ("deprecated", (2, 1, 0)),
    ]
    best = summed_up(fates("kettle.old_call()", [note(*entry) for entry in notes]))
    assert [(one.fate, one.version) for one in best] == [("deprecated", (2, 1, 0)), ("removed", (2, 3, 0))]
    assert best[1].line == "The `kettle.old_call` function."


TABLE = """\
Several constants have been removed:

| Removed | Use instead |
| --- | --- |
| `Pot.STEAM` and `Pot.FOG` | `Pot.VAPOUR` or `Steam.VAPOUR` |
| `Kettle.getsize()` | `Kettle.getbox()` and `Kettle.getlength()` |
| water | tea |"""


def test_tables_of_what_to_use_instead_tell_the_fate_of_each_name() -> None:
    notes = [((3, 0), TABLE), ((2, 0), "- The default was `STEAM`. `STEAM` has been replaced by `HEAT`.")]
    notes.append(((2, 5), TABLE.replace("Removed", "Deprecated").replace("been removed", "been deprecated")))
    best = summed_up(fates("Pot.STEAM", [note(*entry) for entry in notes]))
    assert [(one.fate, one.version) for one in best] == [("deprecated", (2, 5)), ("removed", (3, 0))]
    assert best[1].line == "`Pot.STEAM` and `Pot.FOG`: use `Pot.VAPOUR` or `Steam.VAPOUR` instead."
    assert successors(best) == ("Pot.VAPOUR",)
    # people call what is of a class by a name of their own
    assert told("kettle.getsize", *notes) == [("removed", (3, 0)), ("deprecated", (2, 5))]
    assert told("getbox", *notes) == told("water", *notes) == []


def test_of_a_name_that_came_back_no_sentence_is_made() -> None:
    notes = [((1, 0), "- Remove `old_call`."), ((2, 0), "- `old_call` is deprecated.")]
    assert summed_up(fates("old_call", [note(*entry) for entry in notes])) == []


@pytest.mark.parametrize(
    ("name", "line", "said"),
    [
        ("cache_time", "`cache_time` is renamed to `max_age`.", "renamed"),
        ("cache_time", "`max_age` replaces `cache_time`.", "replaced"),
        ("cache_time", "`Pot.cache_time` (replaced by `Pot.max_age`)", "replaced"),
        ("max_age", "`Pot.cache_time` (replaced by `Pot.max_age`)", None),
        ("old_boil", "`Pot.old_boil()` (renamed to `Pot.boil()`)", "renamed"),
        ("cache_time", "`cache_time` is deprecated and will be removed in 3.0.", "deprecated"),
        ("cache_time", "Drop `cache_time` in favor of `max_age`.", "removed"),
        ("cache_time", "Fix a bug where `cache_time` was removed too early.", None),
        ("cache_time", "Re-add the deprecated `cache_time`, which was removed too early.", None),
        ("cache_time", "`cache_time` is no longer deprecated.", None),
        ("--new", "Remove the `--old` flag, and enable the `--new` flag.", None),
        ("--old", "Remove the `--old` flag, and enable the `--new` flag.", "removed"),
        ("--file", "Remove support for the deprecated `--files`.", "removed"),
        ("--files", "Remove `--file`.", "removed"),
        ("--file", "Remove `--filesystem`.", None),
        ("cache_time", "Add `cache_time`.", None),
        ("time", "Remove the time that a job takes.", None),  # a word, and no name
        ("time", "Remove the `time` argument.", "removed"),
        ("time", "Remove `cache_time`.", None),
        ("cache_time", "The module was renamed so that it works without importing `cache_time`.", ""),
        ("kettle.task", "The task status is removed.", None),
        ("kettle.task", "Remove the `task` argument.", None),
        ("kettle.task", "Remove the `old.task` function.", None),
        ("kettle.task", "Remove `kettle.task`.", "removed"),
        ("_lid.binding.kettle", "Remove `kettle lid --off`.", None),
        ("--eager", "Remove the `--eager` option.", "removed"),
        ("JobQueue", "The `push` method of the deprecated `JobQueue` object is removed.", ""),
        ("JobQueue", "`JobQueue.push` is deprecated.", ""),
        ("Queue", "The `push` method of the `Queue` object is removed.", None),
        ("JobQueue", "`JobQueue` is the old form. It is deprecated.", "deprecated"),
    ],
)
def test_a_line_tells_of_the_name_itself(name: str, line: str, said: str | None) -> None:
    assert fate(name, line) == said


@pytest.mark.parametrize(
    ("name", "lines", "names"),
    [
        ("old", ["`old` is removed. Use `pack.new()` instead."], ("pack.new",)),
        ("old_one", ["`old_one` is renamed to `new_one`. `old_two` is renamed to `new_two`."], ("new_one",)),
        ("old_two", ["`new_one` replaces `old_one`, and `new_two` replaces `old_two`."], ("new_two",)),
        ("get_size", ["`get_size` is removed, use `shutil.get_size` instead."], ("shutil.get_size",)),
        ("A_KEY", ["It is moved to the `app.json` provider. `A_KEY` is removed."], ("app.json",)),
        ("old_one", ["`old_one` is removed. Run setup code when starting instead."], ()),
        ("old_one", ["`old_one` is removed. `other` is deprecated, use `else` instead."], ()),
        ("old_one", ["Use `old_one` with care."], ()),
    ],
)  # fmt: skip
def test_notes_tell_what_takes_the_place_of_a_name(
    name: str, lines: list[str], names: tuple[str, ...]
) -> None:
    assert successors(fates(name, [note((2, 0), f"- {line}") for line in lines])) == names


def test_what_was_made_better_by_replacing_something_inside_ended_nothing() -> None:
    told = fates("server", [note((2, 0), "- Faster start by replacing `http.server` with `http.status`.")])
    assert not told
    assert fates("server", [note((2, 0), "- Replaced `server` by `boiler`.")])[0].fate == "replaced"


REMOVED = [((2, 0), "- `old_call` is removed.")]


@pytest.mark.parametrize(
    ("notes", "until", "version"),
    [
        (REMOVED, (2, 0), (2, 0)),
        (REMOVED, (3, 1), (2, 0)),
        (REMOVED, (1, 5), ()),
        ([((2, 0), "- `old_call` is deprecated.")], (3, 1), ()),
        ([*REMOVED, ((2, 1), "- `old_call` is renamed to `call`.")], (3, 1), ()),
        ([((2, 0), "- The `size` of `old_call` is removed.")], (3, 1), ()),
    ],
)
def test_a_name_ends_in_the_version_that_removes_it_unless_it_came_back(
    notes: list[tuple[Version, str]], until: Version, version: Version
) -> None:
    assert ended(fates("old_call", [note(*entry) for entry in notes]), until) == version


@pytest.mark.parametrize(
    ("text", "stayed"),
    [
        ("Call `old_call` to begin.", True),
        ("Use `Other.old_call(x)` of another class.", True),
        ("```\nold_call()\n```", True),
        ("Nothing of it: `my_old_call`, `old_call_2`.", False),
        ("Changed in version 2.0: `old_call` was removed.", False),
        ("*Added in version 0.9:* `old_call` takes a size.", False),
        ("Added in version 2.4: `old_call` is back.", True),
    ],
)
def test_what_other_pages_speak_of_stays(text: str, stayed: bool) -> None:
    assert stays("old_call", [ContextChunk("1", "", "Kettle", "Calls", "", text)], (2, 0)) is stayed
    assert stays("old_call", [ContextChunk("1", "", "Kettle", "old_call()", "", "It calls.")], (2, 0))


@given(st.text(max_size=300), st.text(min_size=1, max_size=20))
def test_any_notes_are_read(text: str, name: str) -> None:
    found = fates(name, [note((2, 0), text)])
    assert len(successors(found)) <= 2 and isinstance(ended(found, (3, 0)), tuple)
    assert isinstance(stays(name, [note((2, 0), text)[1]], (2, 0)), bool)


def test_what_stands_before_a_list_holds_for_its_items_and_not_for_what_takes_their_place() -> None:
    page = (
        "The following have been removed:\n\n- `Pot.warm`\n  - Use `Pot.boil_up()` instead.\n\n"
        "These are new:\n\n- `Pot.cool_down`"
    )
    notes = ((2, 0), page)
    assert told("Pot.warm", notes) == [("removed", (2, 0))]
    assert told("boil_up", notes) == [] == told("cool_down", notes)


def test_an_option_in_quotation_marks_is_one() -> None:
    page = '- removed stuff that was deprecated (since):\n  - option "--old-boil" (2017-09), use "--boil"'
    assert (
        told("--old-boil", ((1, 2), page)) == [("removed", (1, 2))] and told("--boil", ((1, 2), page)) == []
    )


def test_what_is_deprecated_for_a_reason_is_so_and_not_only_called_so() -> None:
    line = "The `old_boil` sub-command for pot.py is marked as deprecated to follow what others do."
    assert fate("old_boil", line) == "deprecated"


def test_of_a_plain_word_notes_below_its_module_tell() -> None:
    page = ContextChunk(
        "6", "", "Notes", "Version 6.0 > kettle.web", "", "- The `halt` decorator has been removed."
    )
    assert [one.fate for one in fates("kettle.web.halt", [((6, 0), page)])] == ["removed"]
    assert not fates("kettle.pot.halt", [((6, 0), page)]) and not fates("web.halt", [((6, 0), page)])
    for other in ("Template.halt", "kettle.other.halt"):
        line = f"- The `{other}` method has been removed."
        page = ContextChunk("6", "", "Notes", "Version 6.0 > kettle.web", "", line)
        assert not fates("kettle.web.halt", [((6, 0), page)])


@pytest.mark.parametrize(
    ("name", "said"),
    [("resp.body", "renamed"), ("req.body", None), ("res.body", "renamed"), ("list.body", None)],
)
def test_a_short_variable_is_of_the_class_that_it_stands_for(name: str, said: str | None) -> None:
    assert fate(name, "Rename `pot.Response.body` to `text`.") == said


def test_a_short_variable_is_of_no_class_that_only_begins_so() -> None:
    assert (
        fate("res.body", "Remove `Resource.body`.") is None
        and fate("time.halt", "Remove `Timer.halt`.") is None
    )


def test_an_argument_is_that_of_the_function_that_did_not_know_it() -> None:
    lines = [
        "- The `callback` argument to `Pot.fetch` has been removed.",
        "- The `callback` argument to `Pot.run` has been removed.",
        "- The `callback` argument has been removed.",
    ]
    found = fates("callback", [note((6, n), line) for n, line in enumerate(lines)])
    assert len(found) == 3
    of_fetch = of_function(found, "callback", "fetch")
    assert sorted(one.version for one in of_fetch) == [(6, 0), (6, 2)]
    assert of_function(found, "", "") == tuple(found) == of_function(found, "other", "fetch")


def test_of_several_names_each_is_told_its_own_successor() -> None:
    line = (
        "- `Pot.get_old` and `Pot.set_old` (and others) have been renamed to `Pot.get_new` and `Pot.set_new`."
    )
    for way in ("get", "set"):
        assert successors(fates(f"{way}_old", [note((6, 3), line)])) == (f"Pot.{way}_new",)
    other = "- The `app.config` key `OLD_KEY` is renamed to `NEW_KEY` and `OTHER_KEY`."
    assert successors(fates("OLD_KEY", [note((6, 3), other)])) == ("NEW_KEY",)
    long = "`Pot.subscribe_to(callback, *, queue: str = '', acknowledge: bool = False, prefetch: int = 1)`"
    assert successors(fates("old_one", [note((1, 0), f"- `old_one` is deprecated in favor of {long}.")])) in (
        (),
        ("Pot.subscribe_to",),
    )


def test_what_is_imported_from_an_owner_is_a_name_of_its_own() -> None:
    line = "Importing `escape` and `Markup` from `kettle` is deprecated. Import them from `safe` instead."
    assert fate("kettle.Markup", line) == "deprecated" and fate("kettle.escape", line) == "deprecated"
    assert fate("pot.Markup", line) is None and fate("kettle.safe", line) is None


DROPPED = (
    "- `Dataset.drop()` & `DataArray.drop` are now deprecated. `Dataset.drop_sel` & `Dataset.drop_vars`"
    " replace them for labels & variables respectively."
)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("ds.drop", True),
        ("da.drop()", True),
        ("ds2.drop", True),
        ("Dataset.drop", True),
        ("pot.drop", False),  # short for no class that is named there
        ("app.drop", False),  # known to be an `App`
        ("dis.drop", False),  # a module of Python's own
        ("drop", True),
    ],
)
def test_a_short_variable_is_of_the_class_that_it_is_short_for(name: str, found: bool) -> None:
    line = DROPPED if name != "dis.drop" else DROPPED.replace("Dataset", "DataIsles")
    assert told(name, ((2, 0), line)) == ([("deprecated", (2, 0))] if found else [])


def test_several_names_that_replace_it_are_told() -> None:
    known = fates("ds.drop", [note((2, 0), DROPPED)])
    assert successors(known) == ("Dataset.drop_sel", "Dataset.drop_vars")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("my_data.drop", "drop"),
        ("self.drop", ""),
        ("os.drop", ""),
        ("app.drop", ""),
        ("Pot.drop", ""),
        ("drop", ""),
    ],
)
def test_what_found_notes_tell_is_told_of_a_name_behind_a_variable_of_the_asker(
    name: str, found: str
) -> None:
    notes = [note((2, 0), DROPPED), note((1, 0), "- The new `Dataset.drop` makes it easy.")]
    assert {one.name for one in of_variables([name], notes)} == ({found} if found else set())


@pytest.mark.parametrize(
    ("question", "terms", "kept"),
    [
        (
            "there was a line Source under my tea, gone now, where is the link",
            ["line", "source", "tea", "link"],
            0,
        ),
        ("there was a link Source to fields, gone now, where is it", ["field", "source", "tea", "link"], 1),
        ("is source gone", ["source"], 1),
        ("line with tea and link: `source` gone?", ["line", "source", "tea", "link"], 1),
    ],
)
def test_of_a_plain_word_in_a_longer_question_only_lines_with_more_of_it_tell(
    question: str, terms: list[str], kept: int
) -> None:
    line = "- `match.weights.source` was renamed to `match.weights.data_source`, as the field is called."
    lines = fates("source", [note((2, 5), line)])
    assert len(lines) == 1
    assert len(of_question(lines, question, terms)) == kept


@pytest.mark.parametrize(
    ("name", "line", "said"),
    [
        ("old_call", "Entfernt: `old_call()` wurde entfernt.", "removed"),
        ("old_call", "Veraltet: `old_call()` ist veraltet und wird in Version 3.0 entfernt.", "deprecated"),
        ("tries", "Umbenannt: Die Einstellung `tries` heißt jetzt `max_tries`.", "renamed"),
        ("max_tries", "Umbenannt: Die Einstellung `tries` heißt jetzt `max_tries`.", None),
        ("old_call", "Neu: `old_call()` wurde hinzugefügt.", None),
        ("old_call", "Supprimé : `old_call()` a été supprimé.", "removed"),
        ("old_call", "`old_call()` est obsolète et sera supprimé dans la version 3.0.", "deprecated"),
        ("tries", "Renommé : l'option `tries` a été renommée en `max_tries`.", "renamed"),
        ("old_call", "Eliminado: `old_call()` ha sido eliminado.", "removed"),
        ("old_call", "`old_call()` está obsoleto y será eliminado en la versión 3.0.", "deprecated"),
        ("old_call", "移除：删除了 `old_call()`，请使用 `call()`。", "removed"),
        ("old_call", "弃用：`old_call()` 已弃用，将在 2.0 中移除。", "deprecated"),
        ("tries", "重命名：配置项 `tries` 改名为 `max_tries`。", "renamed"),
    ],
)
def test_notes_in_other_languages_tell_it_too(name: str, line: str, said: str | None) -> None:
    assert fate(name, line) == said
