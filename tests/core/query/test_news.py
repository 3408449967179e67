import pytest

from core.domain import Dated, Product, Question, Release, Span, Turn, begins
from core.query.releases.news import arrived, dated, gone, is_whole, news
from core.query.releases.resolve import resolve
from core.query.understand import queries
from core.vocabulary import CHANGES, in_english, kind_of, tells

PRODUCT = Product(
    "Kettle",
    ("kettle",),
    (
        Release("2.0", ("v2.0",)),
        Release("2.3", ("v2.3",)),
        Release("3.1", ("v3.1",), latest=True),
    ),
)


def asked(text: str, *before: str, product: Product = PRODUCT, release: str = ""):
    question = Question(text, history=tuple(Turn("user", said) for said in before), release=release)
    resolution = resolve(question, product)
    return news(queries(question, product, resolution).base, question, product, resolution)


@pytest.mark.parametrize(
    "text",
    [
        "What changed in 3.1?",
        "what's new in Kettle 3.1",
        "changelog 3.1 please",
        "release notes of the latest version",
        "did anything change in v3.1?",
        "Can you give me a summary of the changes in 3.1?",
        "What's new in Kettle?",
        "show me the changelog",
    ],
)
def test_a_question_for_all_that_a_release_brings(text: str) -> None:
    found = asked(text)
    assert found is not None and found.spans == (Span("3.1", (3, 1)),)
    assert found.kind == "" and is_whole(found, PRODUCT)


@pytest.mark.parametrize(
    "text",
    [
        "What changed about cookies in 3.1?",
        "how do I add features in 3.1?",
        "Is 2.0 deprecated?",
        "is there a new release after 3.1?",
        "When was 3.1 released?",
        "What was removed before 2.3?",
        "How do I upgrade from 2.3 to 3.1?",
        "What's new in Werkzeug 3.0?",
        "What's new?",
        "which werkzeug does 3.1 need?",
    ],
)
def test_a_question_for_something_else_is_left_alone(text: str) -> None:
    assert asked(text) is None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Which things were removed in 2.3?", "removed"),
        ("anything deprecated in 2.3?", "deprecated"),
        ("what are the breaking changes in 2.3?", "breaking"),
        ("which bugs were fixed in 2.3", "fixed"),
        ("what new features were added in 2.3", "added"),
    ],
)
def test_the_kind_of_change_is_heard(text: str, kind: str) -> None:
    found = asked(text)
    assert found is not None and found.kind == kind and found.spans == (Span("2.3", (2, 3)),)


@pytest.mark.parametrize(
    "text",
    [
        "What changed from 2.0 to 3.1?",
        "difference between 2.0 and 3.1",
        "what's new since 2.0?",
        "how does 3.1 differ from 2.0?",
        "what breaks when upgrading 2.0 -> 3.1?",
    ],
)
def test_a_range_begins_after_its_older_end(text: str) -> None:
    found = asked(text)
    assert found is not None and found.spans == (Span("3.1", (3, 1), (2, 0)),)
    assert not is_whole(found, PRODUCT)


def test_two_releases_that_are_listed_are_no_range() -> None:
    found = asked("What's new in 2.3 and in 3.1?")
    assert found is not None and found.spans == (Span("2.3", (2, 3)), Span("3.1", (3, 1)))


def test_a_patch_and_an_unknown_release_keep_their_own_version() -> None:
    patch, unknown = asked("what changed in 2.3.2?"), asked("what changed in 3.0?")
    assert patch is not None and patch.spans == (Span("2.3", (2, 3, 2)),) and not is_whole(patch, PRODUCT)
    assert unknown is not None and unknown.spans == (Span("", (3, 0)),)


def test_a_relative_release_is_the_one_that_was_resolved() -> None:
    found = asked("What's new in the previous release?")
    assert found is not None and found.spans == (Span("2.3", (2, 3)),)


@pytest.mark.parametrize("text", ["and in 2.3?", "what about 2.3?"])
def test_a_follow_up_asks_for_another_release(text: str) -> None:
    found = asked(text, "What changed in 3.1?")
    assert found is not None and found.spans == (Span("2.3", (2, 3)),)


def test_a_follow_up_without_a_release_asks_for_the_same_one() -> None:
    found = asked("what was removed?", "What's new in 2.3?")
    assert found is not None and found.spans == (Span("2.3", (2, 3)),) and found.kind == "removed"
    assert asked("what was removed?", "How do sessions work in 2.3?") is None


def test_a_release_with_a_code_name_goes_by_the_number_of_its_alias() -> None:
    product = Product("Kettle", (), (Release("jammy", ("22.04",)), Release("noble", ("24.04",), latest=True)))
    found = asked("What's new in noble?", product=product)
    assert found is not None and found.spans == (Span("noble", (24, 4)),)
    bare = Product("Kettle", (), (Release("jammy"), Release("noble", latest=True)))
    assert asked("What's new in noble?", product=bare) is None


def test_versions_begin_with_those_they_belong_to() -> None:
    assert begins((3, 1, 2), (3, 1)) and begins((3, 1), (3, 1, 0)) and begins((3, 1), (3,))
    assert not begins((3, 10), (3, 1)) and not begins((3, 1), (3, 1, 2)) and not begins((3, 1), ())


def test_every_kind_is_told_by_the_word_that_asks_for_it() -> None:
    assert all(tells(kind, f"Something was {kind}") for kind in CHANGES)
    assert kind_of("what changed?") == "" and tells("", "anything")


@pytest.mark.parametrize(
    ("text", "kind", "subject"),
    [
        ("When was max_retries added?", "added", ("max_retries",)),
        ("which version removed kettle schedule?", "removed", ("schedule",)),
        ("Since when is the option --cron available?", "added", ("--cron",)),
        ("KETTLE_CRON, since which version?", "added", ("kettle_cron",)),
        ("in which release was config.from_file deprecated?", "deprecated", ("config.from_file",)),
    ],
)
def test_a_question_for_the_version_in_which_something_came_or_went(
    text: str, kind: str, subject: tuple[str, ...]
) -> None:
    assert dated(text, PRODUCT) == Dated(kind, subject)


@pytest.mark.parametrize(
    "text",
    [
        "When was 3.1 released?",
        "when a job is added, what happens?",
        "how was max_retries added?",
        "which version of Python do the new features need?",
        "When was it removed?",
    ],
)
def test_other_questions_ask_for_no_version(text: str) -> None:
    assert dated(text, PRODUCT) is None


@pytest.mark.parametrize(
    "text",
    [
        "kettle 3.1 changes?",
        "What did Kettle 3.1 introduce?",
        "Can someone summarise what's new in kettle 2.3 for me",
        "what got removed between 2.0 and 2.3",
        "which APIs disappeared in 2.3?",
        "Where can I find the changelog for 3.1?",
        "hey folks, what are the major changes of 2.3 compared to 2.0?",
        "what's different in 3.1 vs 2.3?",
        "do we have to expect breaking changes going from 2.3 to 3.1?",
        "New features of 3.1",
        "what does 3.1 bring?",
        "which deprecations came with 2.3?",
        "3.1 release notes?",
        "what happened in 3.0",
        "What are the highlights of Kettle 3.1.0?",
        "are there any breaking changes in 3.1",
        "what's been added in the latest release?",
        "list of removed functions in 2.3",
        "bug fixes in 2.3.3",
        "kettle 2.3 changelog",
        "how has kettle changed since 2.0?",
        "what will break if we upgrade from 2.0 to 3.1?",
    ],
)
def test_people_ask_for_notes_in_many_ways(text: str) -> None:
    assert asked(text) is not None


@pytest.mark.parametrize(
    "text",
    [
        "How do I add a new feature flag in 3.1?",
        "what changed in url_for in 2.3?",
        "my session breaks in 3.1",
        "is the new config removed in 3.1?",
        "what is the difference between g and session in 2.3?",
        "fix for broken imports in 2.3?",
        "3.1 broke everything",
        "new project with 3.1, where to start?",
        "how is async different in 3.1?",
        "is 3.1 a breaking release?",
        "can I get the old release 2.0?",
        "I updated to 3.1, what now?",
    ],
)
def test_what_only_sounds_like_it_is_left_alone(text: str) -> None:
    assert asked(text) is None


@pytest.mark.parametrize(
    ("text", "kind", "span"),
    [
        ("was hat sich in 2.3 geändert?", "", Span("2.3", (2, 3))),
        ("Was wurde in 3.1 entfernt?", "removed", Span("3.1", (3, 1))),
        ("welche Fehler wurden in 2.3 behoben", "fixed", Span("2.3", (2, 3))),
        ("was hat sich zwischen 2.0 und 3.1 geändert?", "", Span("3.1", (3, 1), (2, 0))),
        ("quoi de neuf en 2.3 ?", "", Span("2.3", (2, 3))),
        ("quels changements entre 2.0 et 3.1 ?", "", Span("3.1", (3, 1), (2, 0))),
        ("¿qué se eliminó en la versión 3.1?", "removed", Span("3.1", (3, 1))),
        ("novedades de la 2.3", "", Span("2.3", (2, 3))),
        ("2.3有什么新功能？", "", Span("2.3", (2, 3))),
        ("2.3 移除了什么", "removed", Span("2.3", (2, 3))),
        ("2.0 和 3.1 之间有什么变化", "", Span("3.1", (3, 1), (2, 0))),
    ],
)
def test_what_a_release_brings_is_asked_in_other_languages_too(text: str, kind: str, span: Span) -> None:
    found = asked(text)
    assert found is not None and (found.kind, found.spans) == (kind, (span,))


@pytest.mark.parametrize(
    "text",
    [
        "wie ändere ich den Port?",
        "wie füge ich in 2.3 eine neue Sorte hinzu?",
        "comment changer le port en 2.3 ?",
        "¿cómo cambio el puerto en 2.3?",
        "2.3 怎么修改端口",
    ],
)
def test_how_something_is_done_is_no_question_for_notes_in_other_languages_either(text: str) -> None:
    assert asked(text) is None


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("gibt es kettle.old_call() noch?", ("kettle.old_call()",)),
        ("was ersetzt `old_call`?", ("old_call",)),
        ("kettle.old_call() existe encore ?", ("kettle.old_call()",)),
        ("¿todavía existe kettle.old_call()?", ("kettle.old_call()",)),
        ("kettle.old_call() 还能用吗", ("kettle.old_call()",)),
        ("wie rufe ich `old_call` auf?", ()),
    ],
)
def test_names_that_are_gone_are_asked_for_in_other_languages_too(text: str, names: tuple[str, ...]) -> None:
    assert tuple(name.removesuffix("()") for name in gone(text, PRODUCT)) == tuple(
        name.removesuffix("()") for name in names
    )


@pytest.mark.parametrize(
    "text", ["seit wann gibt es `pour`?", "depuis quand existe `pour` ?", "从哪个版本开始有 `pour`"]
)
def test_since_when_a_name_is_there_is_asked_in_other_languages_too(text: str) -> None:
    assert arrived(text, PRODUCT) == ("pour",)


def test_what_is_in_code_is_not_put_into_english() -> None:
    assert in_english("`wurde_entfernt` wurde entfernt") == "`wurde_entfernt` is removed"
    assert in_english("Removed: `statt` was removed.") == "Removed: `statt` was removed."
