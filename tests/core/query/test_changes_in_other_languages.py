"""What people ask and write of changes in German, French, Spanish and Chinese, as rules read it."""

import pytest

from core.domain import ContextChunk, Dated, Product, Question, Release
from core.generation.quotes.listing import fate, listed, successors
from core.query.releases.news import arrived, asks_of_end, dated, gone, news
from core.query.releases.resolve import resolve
from core.query.understand import queries
from core.retrieval.release_notes.dated import came
from core.retrieval.release_notes.gone import fates
from core.retrieval.release_notes.headed import marks
from core.retrieval.release_notes.notes import version_of
from core.retrieval.release_notes.requirements import drops, used
from core.retrieval.release_notes.turned import asks_whether_there
from core.vocabulary import in_english, kind_of, languages_of_changes
from tests.core.generation.samples import evidence

PRODUCT = Product(
    "Kettle", aliases=("kettle",), releases=(Release("2.0"), Release("2.3"), Release("3.1", latest=True))
)


def kind_asked(text: str) -> str | None:
    question = Question(text)
    resolution = resolve(question, PRODUCT)
    found = news(queries(question, PRODUCT, resolution).base, question, PRODUCT, resolution)
    return found.kind if found else None


def page(text: str, heading: str = "Changes > 2.3") -> ContextChunk:
    return ContextChunk("1", "", "Kettle", heading, "", text)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Was ist in 3.1 alles rausgeflogen?", "removed"),
        ("Welche Neuerungen bringt Version 2.3?", ""),
        ("Was hat sich seit 2.0 getan?", ""),
        ("welche neuen Funktionen hat 3.1?", "added"),
        ("was ist inkompatibel in 3.1", "breaking"),
        ("Welche Bugs wurden in 3.1 gefixt?", "fixed"),
        ("Zeig mir das Changelog von 2.3", ""),
        ("qu'est-ce qui change dans la 3.1 ?", ""),
        ("quels bugs ont été corrigés en 2.3 ?", "fixed"),
        ("Qu'apporte Kettle 3.1 ?", ""),
        ("différences entre 2.3 et 3.1", ""),
        ("¿qué errores se corrigieron en 2.3?", "fixed"),
        ("qué trae la versión 3.1", ""),
        ("diferencias entre 2.3 y 3.1", ""),
        ("3.1 和 2.3 有什么区别", ""),
        ("从 2.0 升级到 3.1 有哪些变化？", ""),
        ("3.1 删除了哪些东西？", "removed"),
        ("3.1 有哪些不兼容的变更", "breaking"),
        ("3.1 有什麼新功能？", ""),
        ("3.1 移除了什麼", "removed"),
    ],
)
def test_release_notes_are_asked_for_as_people_say_it(text: str, kind: str) -> None:
    assert kind_asked(text) == kind


@pytest.mark.parametrize(
    "text",
    [
        "wo ist old_call hin?",
        "ich finde old_call() nicht mehr, was nehme ich stattdessen?",
        "wodurch wird old_call() ersetzt?",
        "Was wurde aus old_call()?",
        "Funktioniert old_call() in 3.1 noch?",
        "Kann ich old_call() weiter benutzen?",
        "où est passé old_call() ?",
        "par quoi remplacer old_call() ?",
        "peut-on encore utiliser old_call() ?",
        "comment s'appelle old_call() maintenant ?",
        "que faut-il utiliser à la place de old_call() ?",
        "¿sigue existiendo old_call()?",
        "¿qué uso en lugar de old_call()?",
        "¿puedo seguir usando old_call()?",
        "¿cómo se llama ahora old_call()?",
        "old_call 去哪了",
        "old_call() 用什么代替？",
        "old_call() 没有了吗",
        "old_call() 還能用嗎",
    ],
)
def test_what_became_of_a_name_is_asked_in_many_ways(text: str) -> None:
    assert asks_of_end(text) and [one.removesuffix("()") for one in gone(text, PRODUCT)] == ["old_call"]


@pytest.mark.parametrize(
    ("line", "fate_told", "instead"),
    [
        ("`old_call()` gibt es nicht mehr. Bitte `call()` verwenden.", "removed", ("call",)),
        ("`old_call()` gilt als veraltet, `call` tritt an seine Stelle.", "deprecated", ("call",)),
        ("`old_call()` ist ab sofort abgekündigt und entfällt mit Kettle 3.0.", "deprecated", ()),
        ("Aus `old_call()` wurde `call()`.", "renamed", ("call",)),
        ("Die Option `old_call` heißt künftig `call`.", "renamed", ("call",)),
        ("Die Klasse `old_call` wurde durch `call` ersetzt.", "replaced", ("call",)),
        ("La fonction `old_call()` n'existe plus ; utilisez `call()`.", "removed", ("call",)),
        ("Suppression du réglage `old_call`.", "removed", ()),
        ("`old_call()` est dépréciée au profit de `call()`.", "deprecated", ("call",)),
        ("L'option `old_call` s'appelle désormais `call`.", "renamed", ("call",)),
        ("La variable `old_call` devient `call`.", "renamed", ("call",)),
        ("Se eliminó la función `old_call()`; utilice `call()`.", "removed", ("call",)),
        ("El parámetro `old_call` ha desaparecido.", "removed", ()),
        ("`old_call()` queda en desuso; en su lugar use `call()`.", "deprecated", ("call",)),
        ("`old_call()` pasa a llamarse `call()`.", "renamed", ("call",)),
        ("La clase `old_call` ha sido sustituida por `call`.", "replaced", ("call",)),
        ("去掉了配置项 `old_call`。", "removed", ()),
        ("`old_call()` 已不推荐使用，将在 Kettle 3.0 中移除。", "deprecated", ()),
        ("类 `old_call` 被 `call` 取代。", "replaced", ("call",)),
        ("選項 `old_call` 更名為 `call`。", "renamed", ("call",)),
    ],
)
def test_notes_tell_the_end_of_a_name_as_people_write_it(
    line: str, fate_told: str, instead: tuple[str, ...]
) -> None:
    told = fates("old_call", [((2, 3), page(f"- {line}"))])
    assert [one.fate for one in told] == [fate_told] and successors(told) == instead
    assert line in fate(told, "Kettle", "3.1")[0], "what is quoted stays as it is written"


@pytest.mark.parametrize(
    ("line", "fate_told"),
    [
        ("Veraltet ab Version 2.2: Verwenden Sie fetch.", "deprecated"),
        ("Entfernt in Version 2.2.", "removed"),
        ("Obsolète depuis la version 2.2: Utilisez fetch.", "deprecated"),
        ("Supprimé dans la version 2.2.", "removed"),
        ("Obsoleto desde la versión 2.2: Utilice fetch.", "deprecated"),
        ("自 2.2 版本弃用: 请使用 fetch。", "deprecated"),
        ("在 2.2 版之後被棄用", "deprecated"),
        ("在版本 2.2 移除", "removed"),
    ],
)
def test_marks_of_sphinx_are_known_as_it_translates_them(line: str, fate_told: str) -> None:
    (told,) = marks(page(f"Where the log goes.\n\n{line}", "Reference > target"))
    assert told[:2] == (fate_told, (2, 2)) and told[2] == line


@pytest.mark.parametrize(
    "line",
    [
        "Neu in Version 2.2.",
        "Ajouté dans la version 2.2.",
        "Nouveau dans la version 2.2.",
        "Nuevo en la versión 2.2.",
        "在 2.2 版本加入.",
        "在 2.2 版被加入.",
        "2.2 新版功能.",
    ],
)
def test_when_a_name_came_is_known_by_such_marks_and_shown_as_it_is(line: str) -> None:
    found = came("pour", [], [page(f"What it does.\n\n{line}", "Reference > pour")])
    assert found is not None and found.version == (2, 2) and found.line == line


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("Läuft 3.1 noch mit Python 3.8?", "Python 3.8 wird nicht mehr unterstützt."),
        ("la 3.1 marche encore avec Python 3.8 ?", "Python 3.8 n'est plus pris en charge."),
        ("¿la 3.1 funciona con Python 3.8?", "Ya no se admite Python 3.8."),
        ("3.1 还支持 Python 3.8 吗", "不再支持 Python 3.8。"),
    ],
)
def test_other_software_that_was_dropped_is_told_in_other_languages(question: str, line: str) -> None:
    assert used(question) == ("Python", "3.8") and drops("Python", "3.8").search(in_english(line))


def test_since_when_something_is_so_is_asked_without_small_words() -> None:
    assert dated("seit wann kann man Anhänge prüfen?", PRODUCT) == Dated("added", ("anhänge", "prüfen"))
    assert arrived("dkim_key 是从哪个版本开始支持的？", PRODUCT) == ("dkim_key",)
    assert arrived("depuis quelle version existe dkim_key ?", PRODUCT) == ("dkim_key",)
    assert asks_whether_there("Gibt es die Warteschlange noch?")


def test_headings_are_those_of_notes_in_every_language() -> None:
    assert version_of("Notes de version > Bouilloire 2.3 (3 juin 2025)") == (2, 3)
    assert version_of("Notas de la versión > Tetera 2.3") == (2, 3)
    assert version_of("更新紀錄 > 水壺 2.3") == version_of("更新日志 > 2.3 版本") == (2, 3)
    assert version_of("版本说明 > 2.3.0（2025年6月3日）") == (2, 3, 0)


def test_what_is_in_english_already_is_not_put_into_english_again() -> None:
    assert in_english("`x` gibt es nicht mehr") == "`x` was removed", "German 'was' is 'what'"
    assert in_english("\U00100000 `x` wurde entfernt") == " `x` is removed"
    assert kind_of("### Entfernt") == kind_of("Suppressions") == "removed"


@pytest.mark.parametrize(
    "text",
    [
        "Add a journal for non-existent jobs.",
        "The suppressions file was removed.",
        "See the comment on sous-vide et al.",
        "Changed in version 2.3: hint, order and version.",
    ],
)
def test_english_is_left_alone(text: str) -> None:
    assert not languages_of_changes(text) and in_english(text) == text


def test_what_stands_below_a_heading_or_a_label_of_a_kind_is_of_that_kind() -> None:
    text = "**Neue Funktionen**\n\n- Lädt Karten.\n\n**Fehlerbehebungen**\n\n- Kacheln verschwanden.\n"
    shown, _ = listed([evidence(1, text, title="Notizen", heading="2.3")], "fixed", "Kettle", "2.3")
    assert "**Fehlerbehebungen**" in shown and "verschwanden" in shown and "Lädt" not in shown
    mended = evidence(1, "- Kacheln verschwanden.", title="Notizen", heading="2.3 > Behoben")
    others = evidence(2, "- Lädt Karten.", title="Notizen", heading="2.3 > Hinzugefügt")
    shown, _ = listed([mended, others], "fixed", "Kettle", "2.3")
    assert "verschwanden" in shown and "Lädt" not in shown
