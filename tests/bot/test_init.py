from __future__ import annotations

import stat

import pytest

from bot.init_command import init
from core.catalogue import load_catalogue
from core.errors import UsageError
from core.ingestion.sources import Kinds
from core.settings import load_settings

WEBSITE = ["Kettle", "1.0, 2.0", "", "https://kettle.example/1.0/", "https://kettle.example/2.0/"]
SETTINGS = ["off", "slack:U1"]


class Person:
    """Somebody who answers what is asked, in order."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def __call__(self, question: str) -> str:
        self.asked.append(question)
        if not self.answers:
            raise EOFError
        return self.answers.pop(0)


def test_the_files_are_written_and_hold_what_was_answered(tmp_path):
    told = init(tmp_path, ask=Person(*WEBSITE, *SETTINGS), secret=Person("xoxb-1", "xapp-1", ""))
    catalogue = load_catalogue(tmp_path / "corpora.toml", Kinds())
    assert [release.name for release in catalogue.product.releases] == ["1.0", "2.0"]
    assert catalogue.product.latest.name == "2.0"
    assert [source.kind for source in catalogue.sources] == ["website", "website"]
    settings = load_settings(str(tmp_path / ".env"))
    assert settings.slack_app_token.get_secret_value() == "xapp-1"
    assert settings.admins == ("slack:U1",) and settings.ollama_host == ""
    assert stat.S_IMODE((tmp_path / ".env").stat().st_mode) == 0o600
    assert "threadlore doctor" in told and "threadlore serve" in told


@pytest.mark.parametrize(
    ("answers", "kind"),
    [
        (["git", "https://x.example/k.git", "v1", "docs", "https://k.example/{page}/"], "git"),
        (["sdist", "flask", "3.1.0", "", ""], "sdist"),
        (["folder", "docs", ""], "folder"),
        (["pdf", "manual.pdf", ""], "pdf"),
    ],
)
def test_every_kind_of_source_that_is_offered_can_be_chosen(tmp_path, answers, kind):
    init(tmp_path, ask=Person("Kettle", "1.0", *answers, "", "", ""), secret=Person("", ""))
    (source,) = load_catalogue(tmp_path / "corpora.toml", Kinds()).sources
    assert source.kind == kind
    assert load_settings(str(tmp_path / ".env")).ollama_model == "qwen3:8b"


def test_questions_that_need_an_answer_are_asked_again(tmp_path, capsys):
    person = Person("", "Kettle", "1.0", "carrier pigeon", "folder", "docs", "", *SETTINGS)
    init(tmp_path, ask=person, secret=Person("", ""))
    assert person.asked[0] == person.asked[1]
    assert "one of website, git" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["corpora.toml", ".env"])
def test_what_is_there_is_not_written_over(tmp_path, name):
    (tmp_path / name).write_text("mine")
    with pytest.raises(UsageError, match="say --force"):
        init(tmp_path, ask=Person(*WEBSITE, *SETTINGS), secret=Person("", ""))
    assert (tmp_path / name).read_text() == "mine"
    init(tmp_path, force=True, ask=Person(*WEBSITE, *SETTINGS), secret=Person("", ""))
    assert (tmp_path / name).read_text() != "mine"


def test_nobody_to_ask_leaves_nothing_behind(tmp_path):
    with pytest.raises(UsageError, match="nothing was written"):
        init(tmp_path, ask=Person("Kettle"))
    assert list(tmp_path.iterdir()) == []


def test_answers_that_do_not_fit_together_leave_nothing_behind(tmp_path):
    twice = ["Kettle", "1.0 1.0", "folder", "a", "", "b", ""]
    with pytest.raises(UsageError, match=r"do not fit together: .*Nothing was written"):
        init(tmp_path, ask=Person(*twice, *SETTINGS), secret=Person("", ""))
    assert list(tmp_path.iterdir()) == []
