"""Roles, lists and names as somebody meant them who wrote them in another way."""

from __future__ import annotations

import pytest

from tests.core.ingestion.pages import body, parsed


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (":ref:`the guide`_", "the guide"),
        (":ref:`the guide <guide>`_", "the guide"),
        ("py:meth:`Kettle.boil`", "`Kettle.boil()`"),
        ("(:pull: `8930`)", "(#8930)"),
        ("(:issue: `8377`, :pull:`8758`)", "(#8377, #8758)"),
        (":func:`one`,:py:meth:`two`", "`one()`, `two()`"),
        ("GH7014,:pull:`7553`", "GH7014, #7553"),
        ("`<format name>`", "`<format name>`"),
        (":func:`boil <a.boil>`", "`boil`"),
        ("*args*", "*args*"),
        ("here---and there, 1 --- 2", "here—and there, 1 — 2"),
        (":literal:`; \\ `", "`;`"),
        # what is none of these
        ("``a---b``, c --- ``d``", "`a---b`, c — `d`"),
        ("----- and a----b", "----- and a----b"),
        ("``py:meth:`boil```", "`` py:meth:`boil` ``"),
        ("``(:pull: `8930`)``", "`` (:pull: `8930`) ``"),
        ("this: `boil`", "this: `boil`"),
        ("so :unknown: `boil`", "so :unknown: `boil`"),
        ("http:`boil`", "http:`boil`"),
    ],
)
def test_a_role_is_read_as_it_was_meant(written: str, shown: str) -> None:
    assert body(f"See {written} now.", "rst") == f"See {shown} now."


def test_roles_of_the_projects_own_are_known(tmp_path) -> None:
    (tmp_path / "conf.py").write_text("extlinks = {'tea': ('https://x.example/%s', 'Tea %s')}\n")
    assert body("See (:tea: `8`) and :milk: `9`.", "rst", tmp_path) == "See (Tea 8) and :milk: `9`."


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("Takes \\*args and \\**more.", "Takes `*args` and `**more`."),
        ("Takes *args and **more here.", "Takes `*args` and `**more` here."),
        ("Call f(*args, **more) now.", "Call f(`*args`, `**more`) now."),
        ("Has __slots__ and ndarray.__getitem__().", "Has `__slots__` and `ndarray.__getitem__()`."),
        ("Not _all_ of it.", "Not *all* of it."),
        ("The _own_names_ here.", "The `_own_names_` here."),
        ("Read __init__.py, a/__init__.py.", "Read `__init__.py`, a/__init__.py."),
        ("From __future__.annotations take it.", "From `__future__.annotations` take it."),
        ("Set K_<LANG>_FLAGS_<X> and K_{a}_FLAGS_, $_FLAGS_.",) * 2,
        ("Attributes A.*Plugin.__version__ are gone.",) * 2,
        ("All f(a)*tol and a[1]*tol.",) * 2,
        ("\\*Only with a lid, and *Note of it.", "*Only with a lid, and *Note of it."),
        # names without a danger, products and what is code already
        ("A _private one, snake_case_name, 2*3*4 and 2 ** 3.",) * 2,
        ("See ``*args`` and ``__init__``.", "See `*args` and `__init__`."),
        ("Is **bold** and *light*.", "Is **bold** and *light*."),
        ("All \\*.py files, \\*a\\*.", "All *.py files, *a*."),
    ],
)
def test_names_that_look_like_markup_are_code(written: str, shown: str) -> None:
    assert body(written, "rst") == shown


def test_a_heading_is_as_it_was_written() -> None:
    page = "_boil_ and __init__ of *args\n===========================\n\nText.\n"
    assert parsed(page, "rst").sections[0].headings == ("_boil_ and __init__ of *args",)


def test_parameters_of_numpys_docstrings_are_code() -> None:
    text = "\\*args, \\*\\*kwargs : optional\n    More.\n\n**window_kwargs : optional\n    Sizes.\n"
    assert (
        body(text, "rst") == "- `*args`, `**kwargs` (optional): More.\n- `**window_kwargs` (optional): Sizes."
    )


def test_names_of_arguments_in_markdown_are_code() -> None:
    assert body("Takes **kwargs: all, and \\*args.", "markdown") == "Takes `**kwargs`: all, and `*args`."
    assert body("**Bold** and *light*, 2*3*4.", "markdown") == "**Bold** and *light*, 2*3*4."


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (  # what goes on at the left
            "- asks for the name of\naccept\n- log a line\n- fix `it`",
            "- asks for the name of accept\n- log a line\n- fix `it`",
        ),
        (
            "* asks for\n  the name of\n`accept`\n* log a line in a\n  file\n* fix it",
            "- asks for the name of `accept`\n- log a line in a file\n- fix it",
        ),
        # no blank line before a list
        ("Kinds:\n- one\n- two\n  of it", "Kinds:\n\n- one\n- two of it"),
        ("Some are\n- one of\nus\n- two", "Some are\n\n- one of us\n- two"),
        ("It boils.\n- soon", "It boils.\n\n- soon"),
        ("It boils.\n- J. Doe, 1900", "It boils.\n\n- J. Doe, 1900"),
        ("- a\nFixes:\n- b", "- a\n\nFixes:\n\n- b"),
        ("- a\nDocumentation\n- b", "- a\n\nDocumentation\n\n- b"),
        ("- a\n\n- b: one of\n  - c\n  - d", "- a\n- b: one of\n  - c\n  - d"),
        ("- a\n\n- b (it boils).\n  - c goes\n  on", "- a\n- b (it boils).\n  - c goes on"),
        # what is no list
        ("The kettle\n- it boils - is new", "The kettle - it boils - is new"),
        ("- a\n- b\nthen more", "- a\n- b\n\nthen more"),
        ("- a\n\nthen more\n\n- b", "- a\n\nthen more\n\n- b"),
        ("A\n=\n\nThe kettle\n- it boils - is new", "The kettle - it boils - is new"),
        ("A\n=\nThe kettle\n- it boils - is new", "The kettle - it boils - is new"),
        ("It is -\n-1 or\n-2.", "It is - -1 or -2."),
        ("::\n\n  - a: 1\n  b: 2\n  - c: 3", "```\n- a: 1\nb: 2\n- c: 3\n```"),
    ],
)
def test_bullets_that_were_run_together_are_told_apart(written: str, shown: str) -> None:
    assert body(written, "rst") == shown


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("See ``quantile`` or [1]_ for more.", "See `quantile` or note 1 for more."),
        ("(see [1]_)", "(see note 1)"),
        ("The ufuncs of it [1]_ are fast.", "The ufuncs of it [^1] are fast."),
        ("The errors [1]_.", "The errors [^1]."),
    ],
)
def test_a_footnote_that_is_a_word_of_its_sentence_stays_one(written: str, shown: str) -> None:
    assert body(f"{written}\n\n.. [1] A book.\n", "rst") == f"{shown}\n\n[^1] A book."


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("Use `the guide<https://a.example/x#y>`_ now.", "Use the guide now."),
        ("Use `the guide <https://a.example/x>`_ now.", "Use the guide now."),
        ("Write ``a<https://a.example>`` there.", "Write `a<https://a.example>` there."),
        (
            "See https://a.example/model.html#object.__new__ too.",
            "See https://a.example/model.html#object.__new__ too.",
        ),
        ("Call object.__new__ there.", "Call `object.__new__` there."),
    ],
)
def test_a_link_that_touches_its_address_is_one_and_an_address_stays_whole(written: str, shown: str) -> None:
    assert body(written, "rst") == shown
