"""Words of other scripts and alphabets: found without spaces and without accents, English as ever."""

from __future__ import annotations

import unicodedata

import pytest

from core.text.invisible import visible
from core.text.words import identifiers, index_terms, query_terms, sentences, whole_word
from core.vocabulary.writing_systems import bridges


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("如何修改重试次数？", "使用 `max_retries` 修改任务失败后的重试次数。"),
        ("怎么卸载", "运行 `pip uninstall feisuo` 即可卸载。"),
        ("ポートを変更するには？", "ポートは設定で変更できます。"),
        ("포트는 무엇입니까?", "대시보드는 포트를 엽니다."),
        ("Alles loeschen?", "Aufträge löschen"),
        ("Alles löschen?", "Aufträge löschen"),
        ("Wo steht die GRÖSSE?", "Die Größe steht hier."),
        ("la configuracion", "Configuración"),
        ("İşi nasıl", "işi iptal et"),
    ],
)
def test_what_is_asked_is_found_as_it_is_written_elsewhere(asked: str, told: str) -> None:
    assert set(query_terms(asked)) & set(index_terms(told))


def test_latin_words_in_the_midst_of_signs_are_words() -> None:
    assert "docker" in query_terms("如何用Docker安装")
    assert identifiers("如何修改max_retries的值") == ["max_retries"]
    assert whole_word("max_retries").search("使用max_retries修改") and not whole_word("lid").search("lids")
    assert query_terms("2.0版本移除了什么？") == ["2.0", "移除"]


def test_english_stands_under_the_terms_it_stood_under() -> None:
    text = "How do I set KettleLid's max_retries for flask.g in 3.1, with --debug?"
    assert query_terms(text) == [
        *("set", "kettlelid", "kettl", "lid", "max_retries", "max", "retri", "flask.g", "flask", "3.1"),
        *("--debug", "debug"),
    ]


def test_where_two_words_meet_nothing_is_missing() -> None:
    assert bridges(["修改", "改重", "重试", "试锅"], {"修改": 1, "重试": 2}) == {"改重"}


def test_letters_and_accents_are_one_character() -> None:
    written = "Weboberfläche: año, Ελλάδα"
    assert visible(unicodedata.normalize("NFD", written)) == written


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("默认重试 8 次。使用 `max_retries` 修改。", 2),
        ("Es gilt z. B. Überall. Über 3 s. Nach ca. 30 s endet es, vgl. Nr. 5.", 3),
        ("Это так. Каждый знает т. е. Все.", 2),
        ("Bien. ¿Qué? Élan.", 3),
        ("It costs e.g. 3 s. Then it ends, etc. So it is.", 2),
    ],
)
def test_sentences_end_where_other_languages_end_them(text: str, count: int) -> None:
    assert len(sentences(text)) == count
