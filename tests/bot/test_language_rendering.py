"""What people see in other languages: within the platforms' limits, and cut as English is."""

from __future__ import annotations

import pytest

from bot.escalation.texts import form as person_form
from bot.platforms.discord import components as discord_controls
from bot.platforms.slack import components as slack_controls
from bot.platforms.slack.text.mrkdwn import to_mrkdwn
from bot.ports.chat import Reply
from bot.privacy.my_data import short
from bot.rendering.answers import (
    SOURCES,
    WORKING,
    WRONG,
    compose,
    controls,
    growing,
    said,
    wrong_button,
    wrong_form,
)
from bot.rendering.splitting import split
from bot.rendering.status import releases_text
from core.domain import Answer, Citation, ContextChunk, Evidence, Resolution
from core.generation.phrases import why
from core.languages import _, available, speaking

EVERY = pytest.mark.parametrize("language", available())
CITED = (Citation(1, "配置（全部）", "https://docs.example/config/#DEBUG", "3.1", "config.md"),)


def _answer(text: str = "用 `DEBUG` 打开 [1]。", **more: object) -> Answer:
    given = {"route": "documents", "release": "2.3+3.1", "citations": CITED, "offers": ("2.0",)}
    return Answer("a" + "0" * 16, text, **(given | more))  # type: ignore[arg-type]


@EVERY
def test_labels_fit_where_platforms_put_them(language: str) -> None:
    with speaking(language):
        shown = controls(
            _answer(release="3.1", resolution=Resolution("3.1", "latest")), ("3.1", "2.0", "1.0")
        )
        for control in (*shown, wrong_button("a1")):
            assert 0 < len(control.label) <= slack_controls.LABEL
            assert len(control.label) <= discord_controls.LABEL
            assert all(len(choice.label) <= slack_controls.LABEL for choice in control.choices)
        for form in (wrong_form("a1"), person_form("a1", "x" * 500, "Ada")):
            assert len(form.title) <= min(slack_controls.TITLE, discord_controls.TITLE), form.title
            for entry in form.fields:
                assert all(len(choice.label) <= slack_controls.LABEL for choice in entry.choices)
        for entry in wrong_form("a1").fields:
            assert len(entry.label) <= discord_controls.TITLE, entry.label
        assert len({choice.label for choice in wrong_form("a1").fields[0].choices}) == len(WRONG)


@EVERY
@pytest.mark.parametrize("names", ["Ada", "Bob and those who help here", "n" * 80, "Ada, Bob, " * 20])
def test_who_agrees_on_discord_reads_the_whole_question(language: str, names: str) -> None:
    with speaking(language):
        form = person_form("a1", "How?", names)
    [label] = discord_controls.modal(form).to_dict()["components"]
    text, below = label["label"], label.get("description") or ""
    assert len(text) <= discord_controls.TITLE and len(below) <= discord_controls.LINE
    assert (text + below).replace(" ", "") == form.fields[0].label.replace(" ", "")
    assert "…" not in text + below


def test_an_answer_in_chinese() -> None:
    with speaking("zh"):
        reply = compose(_answer(), "Flask")
        assert reply.markdown == (
            "用 `DEBUG` 打开 [1]。\n\n**来源**\n[1] [配置（全部）](https://docs.example/config/#DEBUG)\n\n"
            "*Flask 2.3 和 3.1 · 根据文档撰写 · 2.0 中有所不同*"
        )
        pages = (Evidence(1, ContextChunk("c1", "a.md", "配置", "", "https://a.b/c", "x"), 1.0),)
        assert growing("", "Flask", "3.1", pages).markdown == (
            "正在阅读 Flask 3.1 的文档 …\n- [配置](https://a.b/c)"
        )
        assert _(WORKING) == "正在查找 …"


@EVERY
def test_a_long_answer_is_cut_in_any_language(language: str) -> None:
    with speaking(language):
        text = compose(_answer("用 `DEBUG` 打开它，然后重新启动服务器 [1]。\n\n" * 300), "Flask").markdown
        parts = split(text, 1900)
        assert all(len(part) <= 1900 for part in parts) and len(parts) > 2
        assert f"**{_(SOURCES)}**" in "\n\n".join(parts)
        assert "".join("".join(parts).split()) == "".join(text.split()), "nothing is lost"


@EVERY
def test_the_bots_own_sources_are_no_part_of_what_it_said(language: str) -> None:
    with speaking(language):
        text = compose(_answer("Set it [1]."), "Flask").markdown
    assert said(text) == "Set it [1]."


@EVERY
def test_every_fixed_sentence_survives_slack(language: str) -> None:
    with speaking(language):
        said = _("You have opted out, so I do not store your votes or notes, and this does not count. "
                 "`/threadlore opt-in` changes that.")  # fmt: skip
        assert "`/threadlore opt-in`" in to_mrkdwn(Reply(said).markdown)


def test_one_of_a_kind_is_counted_as_well_as_many_in_every_language() -> None:
    entry = {"name": "3.0", "latest": True, "ready": True, "documents": 1, "chunks": 2}
    held = {"accounts": ["slack:U1"], "opted_out": False, "corrections": [{}]}
    with speaking("de"):
        assert releases_text([entry]) == "- **3.0** (aktuell): 1 Seite, 2 Abschnitte"
        assert "- Korrekturen von Antworten: 1" in short(held, "")
    assert releases_text([entry]) == "- **3.0** (latest): 1 page, 2 passages"


def test_why_tells_that_no_model_is_set_up_in_the_language_of_the_moment() -> None:
    trace = {"model_error": "No model is configured; set OLLAMA_HOST."}
    with speaking("es"):
        told = why({"trace": trace, "route": "quote", "release": ""})
    assert "El modelo no la escribió: No hay ninguno configurado (OLLAMA_HOST)." in told
