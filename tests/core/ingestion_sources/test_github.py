from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from aiohttp import web

from core.catalogue import SourceSpec
from core.errors import SourceError
from core.ingestion.sources.github import GithubSource, Options
from tests.core.ingestion_sources.site_server import Site


def person(login: str) -> dict:
    return {"login": login, "type": "Bot" if login.endswith("[bot]") else "User", "id": len(login), "url": ""}


class Hub:
    """GitHub as its REST and GraphQL documentation describes it, as far as reading goes."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.issues: list[dict] = []
        self.comments: list[dict] = []
        self.discussions: list[dict] = []
        self.status = 200
        self.since: list[str] = []
        site.pages |= {
            "/repos/kettle/works/issues": self.listed(self.issues),
            "/repos/kettle/works/issues/comments": self.listed(self.comments),
            "/graphql": self.graphql,
        }

    def listed(self, items: list[dict]):
        async def answer(request: web.Request) -> web.StreamResponse:
            if self.status != 200:
                return web.json_response({"message": "Nope"}, status=self.status)
            query = parse_qs(urlsplit(str(request.url)).query)
            self.since += query.get("since", [])
            since = query.get("since", [""])[0]
            found = [item for item in items if item["updated_at"] >= since]
            page = int(query.get("page", ["1"])[0])
            headers = {}
            if len(found) > page * 2:  # small pages, so that there are several
                more = request.url.update_query(page=page + 1)
                headers["Link"] = f'<{more}>; rel="next"'
            return web.json_response(found[page * 2 - 2 : page * 2], headers=headers)

        return answer

    async def graphql(self, request: web.Request) -> web.StreamResponse:
        assert request.headers["Authorization"] == "token secret"
        page = {"startCursor": "a", "endCursor": "b", "hasNextPage": False, "hasPreviousPage": False}
        found = {"totalCount": len(self.discussions), "pageInfo": page, "nodes": self.discussions}
        return web.json_response({"data": {"repository": {"discussions": found}}})

    def issue(self, number: int, title: str, body: str, **more) -> None:
        self.issues.append(
            {
                "id": number * 100,
                "number": number,
                "title": title,
                "body": body,
                "state": "closed",
                "state_reason": "completed",
                "user": person("ann"),
                "html_url": f"https://github.com/kettle/works/issues/{number}",
                "url": f"{self.site.url}/repos/kettle/works/issues/{number}",
                "created_at": "2024-01-01T00:00:00Z",
                "updated_at": "2024-01-02T00:00:00Z",
                "labels": [{"name": "question"}],
                "reactions": {"+1": 0},
            }
            | more
        )

    def comment(
        self, number: int, mark: int, author: str, body: str, votes: int = 0, role: str = "NONE"
    ) -> None:
        self.comments.append(
            {
                "id": mark,
                "body": body,
                "user": person(author),
                "html_url": f"https://github.com/kettle/works/issues/{number}#issuecomment-{mark}",
                "url": "",
                "issue_url": f"{self.site.url}/repos/kettle/works/issues/{number}",
                "created_at": f"2024-01-01T00:00:{mark % 60:02}Z",
                "updated_at": "2024-01-02T00:00:00Z",
                "author_association": role,
                "reactions": {"+1": votes},
            }
        )


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
    return GithubSource(spec, home, token)


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
    assert list(read(source(hub, tmp_path))) == ["issues/1", "issues/5"]
    assert hub.since == []
    hub.issue(7, "New", "What?", updated_at="2099-01-01T00:00:00Z")
    hub.comment(7, 71, "eve", "This.", role="OWNER")
    hub.comments[-1]["updated_at"] = "2099-01-01T00:00:00Z"
    hub.issues[4] |= {"state": "open", "updated_at": "2099-01-01T00:00:00Z"}
    assert list(read(source(hub, tmp_path))) == ["issues/1", "issues/7"]
    assert len(hub.since) == 2


def test_discussions_with_a_chosen_answer_are_read(hub, tmp_path):
    def comment(mark: str, author: str, body: str) -> dict:
        at = "2024-01-01T00:00:00Z"
        return {"id": mark, "body": body, "url": "", "createdAt": at, "author": {"login": author}}

    hub.discussions.append(
        {
            "id": "D_1",
            "number": 9,
            "title": "Which water?",
            "body": "Hard or soft?",
            "url": "https://github.com/kettle/works/discussions/9",
            "createdAt": "2024-01-01T00:00:00Z",
            "author": {"login": "ann"},
            "answer": {"id": "C_2"},
            "labels": {"nodes": []},
            "comments": {"nodes": [comment("C_1", "bob", "Any."), comment("C_2", "eve", "Soft.")]},
        }
    )
    found = read(source(hub, tmp_path, "secret", what=["discussions"]))
    assert found == {"discussions/9": "# Which water?\n\nHard or soft?\n\nSoft.\n\nAny."}


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
    ("content", "said"), [(None, "cannot be read"), ("{", "is no JSON"), ("{}", "is no list")]
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
        read(GithubSource(spec, tmp_path))


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
