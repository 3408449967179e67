from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from aiohttp import web

from core.catalogue import SourceSpec
from core.errors import SourceError
from core.ingestion.sources.github import api
from core.ingestion.sources.github.source import GithubSource, Options
from tests.core.ingestion_sources.github_server import Hub, discussed, limited, person, remark
from tests.core.ingestion_sources.site_server import Site
from tests.fake_workers import FakeWorkers


@pytest.fixture
def hub():
    with Site() as site:
        hub = Hub(site)
        hub.issue(1, "It  drips", "Water on the table.\r\nWhy?")
        hub.comment(1, 11, "bob", "Buy another.")
        hub.comment(1, 12, "eve", "Turn the lid until it clicks.", votes=4)
        hub.comment(1, 13, "stale[bot]", "This issue is stale.")
        hub.issue(2, "It hums", "A low note.", state_reason="not_planned")
        hub.comment(2, 21, "eve", "It does.", role="OWNER")
        hub.issue(3, "Add a lamp", "…", pull_request={"url": ""})
        hub.comment(3, 31, "eve", "Nice!", role="OWNER")
        hub.issue(4, "Nobody cares", "Hello?")
        hub.issue(5, "Descaling", "How?", labels=[{"name": "docs"}])
        hub.comment(5, 51, "eve", "With vinegar.", role="MEMBER")
        hub.issue(6, "Still open", "Hm?", state="open")
        yield hub


def source(hub: Hub | None, home: Path, token: str = "", **options) -> GithubSource:
    api = {"api": hub.site.url} if hub else {}
    spec = SourceSpec(
        "github",
        Options(repository="kettle/works", **api, **options),
        root=home,
        where="corpora.toml, line 6",
    )
    return GithubSource(spec, home, FakeWorkers(), token)


def read(github: GithubSource) -> dict[str, str]:
    return {d.path: d.content.decode() for d in github.documents()}


def test_issues_that_came_to_an_answer_are_read(hub, tmp_path):
    github = source(hub, tmp_path)
    documents = list(github.documents())
    assert [(d.path, d.url) for d in documents] == [
        ("issues/1", "https://github.com/kettle/works/issues/1"),
        ("issues/5", "https://github.com/kettle/works/issues/5"),
    ]
    assert documents[0].content.decode() == (
        "# It drips\n\nWater on the table.\nWhy?\n\nTurn the lid until it clicks.\n\nBuy another."
    )
    assert dict(github.skipped) == {"issues/2": "it was not settled", "issues/4": "nobody answers"}


def test_labels_choose(hub, tmp_path):
    assert list(read(source(hub, tmp_path, labels=["docs"]))) == ["issues/5"]


def test_only_what_changed_is_asked_for_again(hub, tmp_path):
    for number, item in enumerate([*hub.issues, *hub.comments]):
        item["updated_at"] = f"2024-01-02T00:00:{number:02}Z"
    assert list(read(source(hub, tmp_path))) == ["issues/1", "issues/5"]
    hub.given.clear()
    assert list(read(source(hub, tmp_path))) == ["issues/1", "issues/5"]
    assert not hub.given and hub.unchanged == 2, "two answers 304, which cost nothing"
    hub.issue(7, "New", "What?", updated_at="2099-01-01T00:00:00Z")
    hub.comment(7, 71, "eve", "This.", role="OWNER")
    hub.comments[-1]["updated_at"] = "2099-01-01T00:00:00Z"
    hub.issues[4] |= {"state": "open", "updated_at": "2099-01-01T00:00:00Z"}
    assert list(read(source(hub, tmp_path))) == ["issues/1", "issues/7"]


def test_what_was_deleted_goes_when_everything_is_read_again(hub, tmp_path):
    assert "issues/1" in read(source(hub, tmp_path))
    del hub.issues[0]
    [kept] = tmp_path.rglob("github/*.json")
    assert "issues/1" in read(source(hub, tmp_path))
    kept.write_text(
        kept.read_text().replace(json.loads(kept.read_text())["whole"], "2020-01-01T00:00:00+00:00")
    )
    assert list(read(source(hub, tmp_path))) == ["issues/5"]


@pytest.mark.parametrize("status", [403, 429])
def test_a_short_limit_is_waited_for(hub, tmp_path, status):
    hub.refusals = [
        limited(status, Retry_After="0"),
        limited(status, X_RateLimit_Remaining="0", X_RateLimit_Reset=str(int(time.time()))),
    ]
    assert list(read(source(hub, tmp_path))) == ["issues/1", "issues/5"]


def test_a_long_limit_is_told_and_the_next_run_goes_on_where_it_stopped(hub, tmp_path):
    for number, issue in enumerate(hub.issues):
        issue["updated_at"] = f"2024-01-02T00:00:{number:02}Z"
    pages = hub.site.pages["/repos/kettle/works/issues"]

    async def only_twice(request: web.Request) -> web.StreamResponse:
        reset = str(int(time.time()) + 3000)
        late = limited(X_RateLimit_Remaining="0", X_RateLimit_Reset=reset)
        return late if len(hub.given) == 2 else await pages(request)

    hub.site.pages["/repos/kettle/works/issues"] = only_twice
    with pytest.raises(
        SourceError, match=r"no more requests .* before \d\d:\d\d UTC; .* next run goes on.*line 6"
    ):
        read(source(hub, tmp_path))
    before = [*hub.given]
    hub.site.pages["/repos/kettle/works/issues"] = pages
    assert list(read(source(hub, tmp_path))) == ["issues/1", "issues/5"]
    again = [mark for page in hub.given[2:] for mark in page if mark % 100 == 0]
    assert before == [[100, 200], [200, 300]] and again[0] == 300 and 100 not in again


def test_a_token_never_stands_in_a_message(hub, tmp_path, monkeypatch):
    monkeypatch.setattr(api, "TRIES", 2)
    hub.status = 500
    with pytest.raises(SourceError) as caught:
        read(source(hub, tmp_path, "ghp_secret"))
    assert "ghp_secret" not in str(caught.value)


def test_discussions_with_a_chosen_answer_are_read(hub, tmp_path):
    hub.discussions.append(
        discussed(9, remark("C_1", "bob", "Any."), remark("C_2", "eve", "Soft."), answer="C_2")
    )
    found = read(source(hub, tmp_path, "secret", what=["discussions"]))
    assert found == {"discussions/9": "# Which water?\n\nHard or soft?\n\nSoft.\n\nAny."}


def test_an_answer_may_be_a_reply_and_apps_that_comment_are_left_out(hub, tmp_path):
    reply = remark("C_2", "eve", "Soft.")
    hub.discussions += [
        discussed(9, remark("C_1", "bob", "Any.", reply), answer="C_2"),
        discussed(8, remark("C_3", "dependabot", "This is stale.", kind="Bot")),
    ]
    github = source(hub, tmp_path, "secret", what=["discussions"])
    assert read(github) == {"discussions/9": "# Which water?\n\nHard or soft?\n\nSoft.\n\nAny."}
    assert dict(github.skipped) == {"discussions/8": "nobody answers"}


def test_two_sources_of_a_repository_each_read_what_they_want(hub, tmp_path):
    hub.discussions.append(discussed(7, remark("C_1", "eve", "Soft."), answer="C_1"))
    issues = source(hub, tmp_path, "secret", what=["issues"])
    discussions = source(hub, tmp_path, "secret", what=["discussions"])
    for _ in range(2):
        assert list(read(issues)) == ["issues/1", "issues/5"]
        assert list(read(discussions)) == ["discussions/7"]


def test_only_discussions_that_changed_are_asked_for_again(hub, tmp_path):
    for number in range(1, 6):
        told = remark(f"C_{number}", "eve", "Soft.")
        hub.discussions.append(discussed(number, told, answer=told["id"], at=f"2024-01-0{number}T00:00:00Z"))
    assert len(read(source(hub, tmp_path, "secret", what=["discussions"]))) == 5
    assert hub.given == [[5, 4], [3, 2], [1]]
    hub.given.clear()
    hub.discussions[0] |= {"updatedAt": "2024-02-01T00:00:00Z", "answer": None}
    left = read(source(hub, tmp_path, "secret", what=["discussions"]))
    assert sorted(left) == [f"discussions/{n}" for n in (2, 3, 4, 5)] and hub.given == [[1, 5], [4, 3]]


def test_discussions_without_a_token_are_told(hub, tmp_path):
    with pytest.raises(SourceError, match=r"set GITHUB_TOKEN in \.env"):
        read(source(hub, tmp_path, what=["discussions"]))


@pytest.mark.parametrize(("status", "said"), [(401, "renew GITHUB_TOKEN"), (404, "no such repository")])
def test_a_refusal_says_what_to_do(hub, tmp_path, status, said):
    hub.status = status
    with pytest.raises(SourceError, match=f"{said}.*line 6"):
        read(source(hub, tmp_path))


def test_an_export_of_the_command_line_is_read(tmp_path):
    group = {"content": "THUMBS_UP", "users": {"totalCount": 2}}
    item = {
        "number": 4,
        "title": "Loud",
        "body": "Why so loud?",
        "url": "https://github.com/kettle/works/issues/4",
        "state": "CLOSED",
        "stateReason": "COMPLETED",
        "createdAt": "2024-01-01T00:00:00Z",
        "author": {"login": "ann"},
        "labels": [],
        "comments": [
            {
                "id": "IC_1",
                "author": {"login": "bob"},
                "authorAssociation": "NONE",
                "body": "Wrap it in wool.",
                "createdAt": "2024-01-01T00:01:00Z",
                "url": "https://github.com/kettle/works/issues/4#issuecomment-1",
                "reactionGroups": [group],
            }
        ],
    }
    (tmp_path / "issues.json").write_text(json.dumps([item]))
    found = read(source(None, tmp_path, export="issues.json"))
    assert found == {"issues/4": "# Loud\n\nWhy so loud?\n\nWrap it in wool."}


@pytest.mark.parametrize(
    ("content", "said"), [(None, "cannot be read"), ("{", "is not JSON"), ("{}", "is no list")]
)
def test_an_export_that_is_none_is_told(tmp_path, content, said):
    if content is not None:
        (tmp_path / "issues.json").write_text(content)
    with pytest.raises(SourceError, match=said):
        read(source(None, tmp_path, export="issues.json"))


def test_a_server_that_is_not_there_is_told(tmp_path):
    with Site() as site:
        url = site.url
    spec = SourceSpec("github", Options(repository="kettle/works", api=url), root=tmp_path)
    with pytest.raises(SourceError, match="cannot be reached"):
        read(GithubSource(spec, tmp_path, FakeWorkers()))


def test_people_who_opted_out_are_left_out_and_not_kept_on_disk(hub, tmp_path):
    hub.issue(7, "Scale", "Where does the limescale go?", user=person("Eve"))
    hub.comment(7, 71, "ann", "Into the filter.", role="OWNER")
    github = source(hub, tmp_path)
    before = read(github)
    assert "Turn the lid" in before["issues/1"] and "limescale" in before["issues/7"]
    github.is_out = lambda account: account == "github:eve"
    for _ in range(2):
        left = read(github)
        assert "issues/7" not in left and not any("Turn the lid" in text for text in left.values())
        assert github.withheld, "so that nothing left is no failure"
    kept = "".join(path.read_text() for path in (tmp_path / "sources").rglob("*.json"))
    assert "Turn the lid" not in kept and "limescale" not in kept and "Buy another" in kept


def test_a_copy_is_cleaned_where_nothing_is_read(hub, tmp_path):
    github = source(hub, tmp_path)
    github.withhold()
    read(github)
    [kept] = (tmp_path / "sources").rglob("*.json")
    hub.given.clear()
    github.forgotten = lambda account: 4e9 if account == "github:eve" else 0.0
    github.withhold()
    assert "Turn the lid" not in kept.read_text() and "Buy another" in kept.read_text() and not hub.given


def test_who_is_forgotten_goes_at_once_without_asking_github(hub, tmp_path):
    github = source(hub, tmp_path)
    github.one_way = lambda account: f"one way {account}"
    [first, _] = github.documents()
    assert first.people == tuple(f"one way github:{login}" for login in ("ann", "bob", "eve"))
    hub.given.clear()
    hub.unchanged = 0
    github.forgotten = lambda account: 4e9 if account == "github:eve" else 0.0
    github.asks = False
    assert "Turn the lid" not in "".join(read(github).values())
    assert not hub.given and not hub.unchanged and github.asks, "the next run asks again"
    assert not any("Turn the lid" in path.read_text() for path in (tmp_path / "sources").rglob("*.json"))


def test_what_somebody_wrote_before_they_asked_to_be_forgotten_is_left_out(hub, tmp_path):
    hub.issue(7, "Scale", "Where does the limescale go?", user=person("Eve"))
    hub.comment(7, 71, "ann", "Into the filter.", role="OWNER")
    github = source(hub, tmp_path)
    assert "limescale" in read(github)["issues/7"]
    github.forgotten = lambda account: 4e9 if account == "github:eve" else 0.0
    assert "issues/7" not in read(github)
    assert not any("limescale" in path.read_text() for path in (tmp_path / "sources").rglob("*.json"))
    github.forgotten = lambda account: 1.0
    assert "issues/1" in read(github), "what they wrote later is read"
