"""GitHub's REST and GraphQL API on loopback, as far as reading goes."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from aiohttp import web

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
        self.refusals: list[web.Response] = []
        self.unchanged = 0
        self.given: list[list[int]] = []
        site.pages |= {
            "/repos/kettle/works/issues": self.listed(self.issues),
            "/repos/kettle/works/issues/comments": self.listed(self.comments),
            "/graphql": self.graphql,
        }

    def listed(self, items: list[dict]):
        async def answer(request: web.Request) -> web.StreamResponse:
            if self.refusals:
                return self.refusals.pop(0)
            if self.status != 200:
                return web.json_response({"message": "Nope"}, status=self.status)
            query = parse_qs(urlsplit(str(request.url)).query)
            assert query["sort"] == ["updated"] and query["direction"] == ["asc"]
            since = query.get("since", [""])[0]
            found = sorted((i for i in items if i["updated_at"] >= since), key=lambda i: i["updated_at"])
            page = int(query.get("page", ["1"])[0])
            tag = f'W/"{len(items)}-{since}-{page}"'
            headers = {"ETag": tag}
            if request.headers.get("If-None-Match") == tag:
                self.unchanged += 1
                return web.Response(status=304, headers=headers)
            self.given.append([item["id"] for item in found[page * 2 - 2 : page * 2]])
            if len(found) > page * 2:  # small pages, so that there are several
                more = request.url.update_query(page=page + 1)
                headers["Link"] = f'<{more}>; rel="next"'
            return web.json_response(found[page * 2 - 2 : page * 2], headers=headers)

        return answer

    async def graphql(self, request: web.Request) -> web.StreamResponse:
        assert request.headers["Authorization"] == "token secret"
        if self.refusals:
            return self.refusals.pop(0)
        asked = await request.json()
        assert "UPDATED_AT, direction: DESC" in asked["query"]
        every = sorted(self.discussions, key=lambda d: d["updatedAt"], reverse=True)
        first = int(asked["variables"]["after"] or 0)
        self.given.append([item["number"] for item in every[first : first + 2]])
        page = {"endCursor": str(first + 2), "hasNextPage": len(every) > first + 2}
        found = {"pageInfo": page, "nodes": every[first : first + 2]}
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


def limited(status: int = 403, **headers: str) -> web.Response:
    told = {"message": "API rate limit exceeded for 127.0.0.1."}
    return web.json_response(
        told, status=status, headers={k.replace("_", "-"): v for k, v in headers.items()}
    )


def discussed(number: int, *comments: dict, answer: str = "", at: str = "2024-01-01T00:00:00Z") -> dict:
    every = [one for c in comments for one in (c, *c.get("replies", {}).get("nodes", ()))]
    return {
        "id": f"D_{number}",
        "number": number,
        "title": "Which water?",
        "body": "Hard or soft?",
        "url": f"https://github.com/kettle/works/discussions/{number}",
        "createdAt": "2024-01-01T00:00:00Z",
        "updatedAt": at,
        "author": {"login": "ann", "__typename": "User"},
        "answer": next((one for one in every if one["id"] == answer), None),
        "labels": {"nodes": []},
        "comments": {"nodes": list(comments)},
    }


def remark(mark: str, author: str, body: str, *replies: dict, kind: str = "User") -> dict:
    at = "2024-01-01T00:00:00Z"
    person = {"login": author, "__typename": kind}
    return {
        "id": mark,
        "body": body,
        "url": "",
        "createdAt": at,
        "author": person,
        "replies": {"nodes": replies},
    }
