from __future__ import annotations

import asyncio
import os
import stat
import subprocess
import tomllib
from pathlib import Path

import pytest

from bot.cli.setup.sources import Unclear, located
from bot.cli.setup.wizard import MODEL, Given, init
from core.catalogue import load_catalogue
from core.errors import UsageError
from core.ingestion.sources import Kinds
from core.settings import load_settings
from tests import forked
from tests.ollama_server import OllamaServer
from tests.patience import PATIENCE

WEBSITE = ["Kettle", "1.0, 2.0", "https://kettle.example/1.0/", "https://kettle.example/2.0/"]
NO_MODEL = ["off"]
NOWHERE = ["", ""]
"""Neither Slack nor Discord."""


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


def test_the_files_are_written_and_hold_what_was_answered(tmp_path, capsys):
    folder = tmp_path / "my-bot"
    person = Person(*WEBSITE, *NO_MODEL, "y", "yes", "1045", "slack:U1")
    secrets = Person("xoxb-1", "xapp-1", "discord-1")
    told = init(folder, ask=person, secret=secrets)
    catalogue = load_catalogue(folder / "corpora.toml", Kinds())
    assert [release.name for release in catalogue.product.releases] == ["1.0", "2.0"]
    assert catalogue.product.latest.name == "2.0"
    assert [source.kind for source in catalogue.sources] == ["website", "website"]
    settings = load_settings(str(folder / ".env"))
    assert settings.slack_bot_token.get_secret_value() == "xoxb-1"
    assert settings.slack_app_token.get_secret_value() == "xapp-1"
    assert settings.discord_token.get_secret_value() == "discord-1"
    assert settings.admins == ("slack:U1",) and settings.ollama_host == ""
    assert settings.home == folder / "home"
    assert stat.S_IMODE((folder / ".env").stat().st_mode) == 0o600
    assert "reactions:write" in (folder / "slack-manifest.yaml").read_text(encoding="utf-8")
    assert f"cd {folder}" in told and "threadlore doctor" in told and "/invite @Threadlore" in told
    assert "Still" not in told
    shown = capsys.readouterr().out
    assert str(folder / "slack-manifest.yaml") in shown, "before its tokens are asked for"
    assert "client_id=1045" in shown and "Message Content Intent" in shown


def test_what_is_secret_or_stored_is_kept_out_of_a_repository(tmp_path):
    folder = tmp_path / "clone" / "my-bot"
    folder.mkdir(parents=True)
    (folder / ".gitignore").write_text("notes.txt")
    subprocess.run(["git", "init", "-q", folder.parent], check=True)
    init(folder, ask=Person(*WEBSITE, *NO_MODEL, *NOWHERE), secret=Person())
    (folder / "home" / "logs").mkdir(parents=True)
    for name in ("privacy.key", "logs/threadlore.log", "threadlore.sqlite3"):
        (folder / "home" / name).write_text("x")
    listed = ["git", "-C", folder.parent, "status", "--short", "--untracked-files=all"]
    told = subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split()
    assert sorted(told) == ["??", "??", "my-bot/.gitignore", "my-bot/corpora.toml"]
    assert (folder / ".gitignore").read_text() == "notes.txt\n.env\n/home/\n"


def test_where_no_ollama_answers_that_is_said_and_none_may_be_chosen(tmp_path, capsys):
    person = Person(*WEBSITE, "http://127.0.0.1:9", "none", *NOWHERE)
    told = init(tmp_path, ask=person, secret=Person())
    assert "Nothing answers at http://127.0.0.1:9 now." in capsys.readouterr().err
    assert "OLLAMA_HOST=off" in (tmp_path / ".env").read_text()
    assert "docs/setup.md says how" in told


def test_tokens_can_be_given_later(tmp_path):
    told = init(tmp_path, ask=Person(*WEBSITE, "", "", "y", "", ""), secret=Person("", ""))
    assert "Still missing in .env: SLACK_BOT_TOKEN, SLACK_APP_TOKEN." in told and "cd " in told
    written = (tmp_path / ".env").read_text()
    assert "\nSLACK_BOT_TOKEN=\n" in written and "\nSLACK_APP_TOKEN=\n" in written
    assert "DISCORD" not in written


async def test_an_embedder_is_proposed_only_where_ollama_has_one(tmp_path):
    models = ["qwen3:8b", "all-minilm:latest", "mxbai-embed-large:latest", "bge-reranker-v2:latest"]
    for number, there in enumerate((models, models[:2])):
        async with OllamaServer(models=there) as server:
            person = Person(*WEBSITE, server.url, "", *(["y"] if there == models else []), *NOWHERE)
            await asyncio.to_thread(init, tmp_path / str(number), ask=person, secret=Person())
        settings = load_settings(str(tmp_path / str(number) / ".env"))
        wanted = "ollama:mxbai-embed-large" if there == models else "all-MiniLM-L6-v2"
        assert settings.embedding_model == wanted
        assert sum("mxbai-embed-large" in question for question in person.asked) == (there == models)


@pytest.mark.parametrize(("has_gpu", "answer"), [(True, "y"), (True, ""), (False, None)])
def test_a_larger_embedder_is_proposed_where_there_is_a_gpu_with_what_it_costs(tmp_path, has_gpu, answer):
    said = [] if answer is None else [answer]
    person = Person(*WEBSITE, *NO_MODEL, *said, *NOWHERE)
    init(tmp_path, ask=person, secret=Person(), has_gpu=has_gpu)
    assert not person.answers
    asked = [question for question in person.asked if "BAAI/bge-base-en-v1.5" in question]
    assert len(asked) == has_gpu and all("440 MB" in q and q.endswith("[y/N] ") for q in asked)
    wanted = "BAAI/bge-base-en-v1.5" if answer == "y" else "all-MiniLM-L6-v2"
    assert load_settings(str(tmp_path / ".env")).embedding_model == wanted


async def test_what_ollama_has_is_proposed_before_what_a_gpu_would_have_to_fetch(tmp_path):
    async with OllamaServer(models=["qwen3:8b", "mxbai-embed-large:latest"]) as server:
        person = Person(*WEBSITE, server.url, "", "y", *NOWHERE)
        await asyncio.to_thread(init, tmp_path, ask=person, secret=Person(), has_gpu=True)
    assert not any("bge-base" in question for question in person.asked)
    assert load_settings(str(tmp_path / ".env")).embedding_model == "ollama:mxbai-embed-large"


@pytest.mark.parametrize(("device", "asked"), [("cuda", True), ("cpu", False)])
async def test_the_command_looks_for_a_gpu_as_doctor_does(tmp_path, device, asked):
    variables = {"EMBEDDING_DEVICE": device, "PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    answers = "".join(f"{line}\n" for line in [*WEBSITE, *NO_MODEL, *NOWHERE, ""])
    (tmp_path / "bot").mkdir()
    ended = forked.ended(["init"], variables, tmp_path / "bot", answers.encode())
    child, out, err = await asyncio.wait_for(ended, PATIENCE)
    assert child.returncode == 0, err.decode()
    assert (b"There seems to be an NVIDIA GPU" in out) == asked


def test_a_token_in_the_wrong_place_is_asked_for_again(tmp_path, capsys):
    secrets = Person("xapp-1", "xoxb-1", "xapp-1")
    init(tmp_path, ask=Person(*WEBSITE, *NO_MODEL, "y", "", ""), secret=secrets)
    assert "begins with xapp-" in capsys.readouterr().err
    assert load_settings(str(tmp_path / ".env")).slack_bot_token.get_secret_value() == "xoxb-1"


@pytest.mark.parametrize(
    ("where", "link", "kind", "lines"),
    [
        ("https://x.example/docs/", "", "website", 'start = ["https://x.example/docs/"]'),
        ("https://x.example/k.git@v1:docs", "https://k/{page}", "git", 'ref = "v1"\npath = "docs"\nurl = "'),
        ("git@x.example:me/k.git@main", "", "git", 'repository = "git@x.example:me/k.git"\nref = "main"'),
        ("./k@v1:docs", "https://k/{path}", "git", 'k"\nref = "v1"\npath = "docs"\nurl = "https://k/{path}"'),
        ("flask==3.1.0:docs", "", "sdist", 'package = "flask"\nversion = "3.1.0"\npath = "docs"'),
        ("docs", "https://k/{page}/", "folder", 'docs"\nurl = "https://k/{page}/"'),
        ("manual.pdf", "https://k/manual.pdf", "pdf", 'manual.pdf"'),
    ],
)
def test_every_kind_of_source_that_is_offered_is_understood(tmp_path, monkeypatch, where, link, kind, lines):
    for name in ("docs", "k"):
        (tmp_path / name).mkdir()
    (tmp_path / "manual.pdf").touch()
    monkeypatch.chdir(tmp_path)
    found = located(where, link)
    assert found.startswith(f'kind = "{kind}"\n') and lines in found
    folder = tmp_path / "my-bot"
    answers = ["Kettle", "1.0", where, *([] if kind == "website" else [link]), "", "", *NOWHERE]
    init(folder, ask=Person(*answers), secret=Person())
    (source,) = load_catalogue(folder / "corpora.toml", Kinds()).sources
    assert source.kind == kind
    if kind in ("folder", "pdf") or where[0] == ".":
        assert str(tmp_path) in found, "it must hold from the other folder, too"
    assert load_settings(str(folder / ".env")).ollama_model == "qwen3:8b"


@pytest.mark.parametrize(
    "where", ["nowhere", "../nowhere@v1", "https://x.example/k.git", "git@x.example:me/k.git", "notes.txt"]
)
def test_a_place_that_cannot_be_is_told_with_what_to_write(tmp_path, monkeypatch, where):
    (tmp_path / "notes.txt").touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Unclear, match=r"write|needs a tag|name the folder"):
        located(where)


def test_questions_that_need_an_answer_are_asked_again(tmp_path, capsys):
    (tmp_path / "docs").mkdir()
    docs = str(tmp_path / "docs")
    person = Person("", "Kettle", f"1.0={docs}", "1.0", "carrier pigeon", docs, "https://k/")
    person.answers += [docs, "", *NO_MODEL, "", "y", "1045", "boss", "slack:U1"]
    init(tmp_path, ask=person, secret=Person("discord-1"))
    assert person.asked[0] == person.asked[1] and person.asked[2] == person.asked[3]
    told = capsys.readouterr().err
    assert "There is no" in told and "Write their names alone" in told
    assert "write {page} where the path of a page stands" in told and "with its platform" in told


@pytest.mark.parametrize("name", ["corpora.toml", ".env"])
def test_what_is_there_is_not_written_over(tmp_path, name):
    (tmp_path / name).write_text("mine")
    (tmp_path / name).chmod(0o644)
    with pytest.raises(UsageError, match=r"threadlore init my-bot.*--force"):
        init(tmp_path, ask=Person(*WEBSITE, *NO_MODEL, *NOWHERE), secret=Person())
    assert (tmp_path / name).read_text() == "mine"
    init(tmp_path, force=True, ask=Person(*WEBSITE, *NO_MODEL, *NOWHERE), secret=Person())
    assert (tmp_path / name).read_text() != "mine"
    assert stat.S_IMODE((tmp_path / ".env").stat().st_mode) == 0o600


def test_nobody_to_ask_leaves_nothing_behind(tmp_path):
    with pytest.raises(UsageError, match="Pass --product NAME and --docs"):
        init(tmp_path / "my-bot", ask=Person("Kettle"))
    assert list(tmp_path.iterdir()) == []


def test_answers_that_do_not_fit_together_leave_nothing_behind(tmp_path):
    wrong = ["Kettle", "1.0", "https://"]
    with pytest.raises(UsageError, match=r"contradict each other: .*Nothing was written"):
        init(tmp_path / "my-bot", ask=Person(*wrong, *NO_MODEL, *NOWHERE), secret=Person())
    assert list(tmp_path.iterdir()) == []


def test_with_all_on_the_command_line_nothing_is_asked(tmp_path):
    (tmp_path / "docs").mkdir()
    given = Given(
        product="Kettle",
        docs=("1.0=https://kettle.example/1.0/", f"2.0={tmp_path / 'docs'}"),
        links=("2.0=https://kettle.example/2.0/{page}",),
        ollama="http://gpu:11434",
        model="qwen3:14b",
        platforms={"slack": "yes", "discord": "1045"},
        admins="slack:U1",
        tokens={"SLACK_BOT_TOKEN": "xoxb-1"},
    )
    told = init(tmp_path / "my-bot", ask=Person(), secret=Person(), given=given)
    catalogue = load_catalogue(tmp_path / "my-bot" / "corpora.toml", Kinds())
    assert [source.kind for source in catalogue.sources] == ["website", "folder"]
    settings = load_settings(str(tmp_path / "my-bot" / ".env"))
    assert (settings.ollama_host, settings.ollama_model) == ("http://gpu:11434", "qwen3:14b")
    assert settings.slack_bot_token.get_secret_value() == "xoxb-1" and settings.admins == ("slack:U1",)
    assert "Still missing in .env: SLACK_APP_TOKEN, DISCORD_TOKEN." in told
    assert (tmp_path / "my-bot" / "slack-manifest.yaml").is_file()


def test_a_model_that_nobody_chose_is_not_written_so_that_none_is_no_problem(tmp_path):
    init(tmp_path, ask=Person(), secret=Person(), given=Given("Kettle", ("1.0=https://kettle.example/",)))
    assert "OLLAMA" not in (tmp_path / ".env").read_text()
    assert load_settings(str(tmp_path / ".env")).ollama_model == MODEL
    given = Given("Kettle", ("1.0=https://kettle.example/",), model="off")
    init(tmp_path, True, ask=Person(), secret=Person(), given=given)
    assert "OLLAMA_HOST=off" in (tmp_path / ".env").read_text()


def test_pages_without_a_link_are_told(tmp_path):
    docs = ("1.0=kettle==1.0", "2.0=kettle==2.0:docs")
    given = Given("Kettle", docs, links=("2.0=https://kettle.example/{page}/",))
    said = init(tmp_path / "one", ask=Person(), secret=Person(), given=given)
    assert "Answers name the pages of 1.0 without a link." in said and '/{page}/"`' in said
    given = Given("Kettle", ("2.0=https://kettle.example/",))
    assert "without a link" not in init(tmp_path / "other", ask=Person(), secret=Person(), given=given)


@pytest.mark.parametrize(
    "where", ["http://127.0.0.1:8000/docs/", "http://localhost/", "http://[::1]/", "http://10.1.2.3/"]
)
def test_a_website_of_the_own_network_may_be_read_and_is_told(tmp_path, where):
    said = init(tmp_path / "own", ask=Person(), secret=Person(), given=Given("Kettle", (f"2.0={where}",)))
    (source,) = load_catalogue(tmp_path / "own" / "corpora.toml", Kinds()).sources
    assert source.options.private and "The website of 2.0 is on your own network: `private = true`" in said
    given = Given("Kettle", ("2.0=http://93.184.215.14/",))
    assert "own network" not in init(tmp_path / "open", ask=Person(), secret=Person(), given=given)
    (source,) = load_catalogue(tmp_path / "open" / "corpora.toml", Kinds()).sources
    assert not source.options.private


def test_another_folder_is_proposed_than_those_that_are_taken(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = Given("Kettle", ("1.0=https://kettle.example/",))
    for name, other in (("bot", "my-bot"), ("my-bot", "my-other-bot"), ("new", "my-other-bot")):
        folder = tmp_path / name
        init(folder, ask=Person(), secret=Person(), given=given)
        with pytest.raises(UsageError, match=f"`threadlore init {other}`"):
            init(folder, ask=Person(), secret=Person(), given=given)


@pytest.mark.parametrize(
    ("docs", "links", "said"),
    [
        (("docs",), (), "write it as --docs 2.0="),
        (("2.0=nowhere",), (), "There is no"),
        (("2.0=https://x/",), ("1.0=https://x/{page}",), "--link names 1.0"),
        (("2.0=.",), ("2.0=https://x/",), "write {page}"),
    ],
)
def test_flags_that_cannot_be_are_told(tmp_path: Path, docs, links, said):
    with pytest.raises(UsageError, match=said):
        init(tmp_path, ask=Person(), secret=Person(), given=Given("Kettle", docs, links))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_a_space_can_be_entered_as_it_is_told(tmp_path):
    told = init(tmp_path / "my bot", given=Given(product="Kettle", docs=["2.0=https://docs.example.org/"]))
    assert f"cd '{tmp_path}/my bot'\n" in told


@pytest.mark.parametrize("name", ["Küche", "Kettle 🫖", 'The "best"'])
def test_names_of_every_script_are_written_as_they_are(tmp_path, name):
    (tmp_path / name).mkdir()
    init(tmp_path / "bot", given=Given(product=name, docs=[f"2.0={tmp_path / name}"]))
    written = (tmp_path / "bot" / "corpora.toml").read_text(encoding="utf-8")
    held = tomllib.loads(written)
    assert held["product"]["name"] == name
    assert held["release"][0]["source"][0]["path"] == str(tmp_path / name)
    assert "\\u" not in written


def test_a_repository_in_ones_own_folder_and_a_folder_with_an_at_are_told_apart(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "kettle").mkdir()
    (tmp_path / "docs@2").mkdir()
    assert located("~/kettle@v2:docs").splitlines() == [
        'kind = "git"',
        f'repository = "{tmp_path}/kettle"',
        'ref = "v2"',
        'path = "docs"',
    ]
    assert located(str(tmp_path / "docs@2")) == f'kind = "folder"\npath = "{tmp_path}/docs@2"\n'


def test_a_release_that_is_named_twice_is_refused_before_one_place_is_lost(tmp_path):
    twice = ["2.0=https://a.example.org/", "2.0=https://b.example.org/"]
    with pytest.raises(UsageError, match=r"--docs names 2\.0 twice; add further sources to corpora\.toml"):
        init(tmp_path / "bot", given=Given(product="Kettle", docs=twice))
    assert not (tmp_path / "bot").exists()


@pytest.mark.parametrize(
    ("platforms", "tokens", "said"),
    [
        ({"discord": "abc"}, {}, "An application's id is a number"),
        ({"discord": "1045"}, {"DISCORD_TOKEN": "1045"}, "A number is an id"),
        ({"slack": "yes"}, {"SLACK_BOT_TOKEN": "xapp-1", "SLACK_APP_TOKEN": "xoxb-1"}, "xapp-… instead"),
        ({"slack": "yes"}, {"SLACK_APP_TOKEN": "xoxb-1"}, "SLACK_APP_TOKEN begins with xoxb-"),
    ],
)
def test_an_id_or_a_token_of_the_wrong_kind_is_told_before_anything_is_written(
    tmp_path, platforms, tokens, said
):
    given = Given("Kettle", ("1.0=https://kettle.example/",), platforms=platforms, tokens=tokens)
    with pytest.raises(UsageError, match=said):
        init(tmp_path / "bot", ask=Person(), secret=Person(), given=given)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["xapp-1-A0B1-2-c3", "xoxb-12-34-ab"])
def test_a_token_behind_a_flag_is_no_folder(tmp_path, name):
    given = Given("Kettle", ("1.0=https://kettle.example/",), platforms={"slack": "yes"})
    with pytest.raises(UsageError, match="looks like a token") as told:
        init(tmp_path / name, ask=Person(), secret=Person(), given=given)
    assert name not in str(told.value) and list(tmp_path.iterdir()) == []


def test_the_id_in_place_of_discord_s_token_is_asked_for_again(tmp_path, capsys):
    person = Person(*WEBSITE, *NO_MODEL, "", "y", "1045", "")
    init(tmp_path, ask=person, secret=Person("1045", "discord-1"))
    assert "A number is an id" in capsys.readouterr().err
    assert load_settings(str(tmp_path / ".env")).discord_token.get_secret_value() == "discord-1"


def test_a_repository_of_this_folder_is_one_and_a_bare_one_is_no_folder_of_pages(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    subprocess.run(["git", "init", "-q", "--bare", "kettle.git"], check=True)
    found = located("kettle.git@v2.0:docs")
    assert found.splitlines()[:3] == ['kind = "git"', f'repository = "{tmp_path}/kettle.git"', 'ref = "v2.0"']
    for where in ("kettle.git", "./kettle.git", str(tmp_path / "kettle.git")):
        with pytest.raises(Unclear, match=r"needs a tag or a branch: .*kettle\.git@v2\.0"):
            located(where)
