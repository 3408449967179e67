"""Asking GitHub's API for issues, comments and discussions, only for what changed since the last time.

Lists come in the order of their last change and are read from the last change that is known, so that the next
run goes on where GitHub's limits broke one off. Where nothing has changed since, the answer is 304, which
does not count against the limits. As nothing tells what was deleted, all is read again once a month.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import requests
from github import Auth, Github, GithubException
from github.Requester import Requester

WHOLE = timedelta(days=30)
"""After which everything is read again, so that what was deleted goes."""
PATIENCE = 60.0
"""Seconds that GitHub's limits are waited for within a run; beyond them the next run goes on."""
TRIES = 4
"""Requests for the same page at most, where limits or a broken server stand against it."""
_PERSON = "author { login __typename }"
_DISCUSSIONS = f"""
query ($owner: String!, $name: String!, $after: String) {{
  repository(owner: $owner, name: $name) {{
  discussions(first: 25, after: $after, orderBy: {{field: UPDATED_AT, direction: DESC}}) {{
    pageInfo {{ hasNextPage endCursor }} nodes {{
    id number title body url createdAt updatedAt {_PERSON}
    labels(first: 20) {{ nodes {{ name }} }}
    reactionGroups {{ content users {{ totalCount }} }}
    answer {{ ...told }}
    comments(first: 50) {{ nodes {{ ...told replies(first: 20) {{ nodes {{ ...told }} }} }} }}
  }} }} }} }}
fragment told on DiscussionComment {{
  id body url createdAt isAnswer authorAssociation {_PERSON}
  reactionGroups {{ content users {{ totalCount }} }}
}}
"""


class GithubRefused(Exception):
    """GitHub did not give what was asked for; the message says what to do."""


def nothing_kept() -> dict[str, Any]:
    """Return what is kept before the first run: entries by number, and how far each list was read."""
    return {"whole": "", "marks": {}, "issues": {}, "comments": {}, "discussions": {}}


def renew(
    kept: dict[str, Any], repository: str, *, api: str, token: str, issues: bool, discussions: bool
) -> None:
    """Bring a copy (`nothing_kept`) up to date; GithubRefused is raised with what came so far in it."""
    now = datetime.now(UTC)
    if not kept["whole"] or now - datetime.fromisoformat(kept["whole"]) > WHOLE:
        kept.update(nothing_kept(), whole=now.isoformat())
    client = Github(
        auth=Auth.Token(token) if token else None,
        base_url=api,
        timeout=30,
        verify=os.environ.get("SSL_CERT_FILE") or True,
        retry=None,
        seconds_between_requests=0,
    )
    try:
        with client:
            ask = client.requester
            if issues:
                place = f"/repos/{repository}/issues"
                for issue in _changed(ask, place, kept["marks"], {"state": "all"}):
                    number = str(issue["number"])
                    if issue["state"] == "closed" and not issue.get("pull_request"):
                        kept["issues"][number] = issue
                    else:
                        kept["issues"].pop(number, None)
                for comment in _changed(ask, f"{place}/comments", kept["marks"], {}):
                    number = str(comment["issue_url"]).rpartition("/")[2]
                    kept["comments"].setdefault(number, {})[str(comment["id"])] = comment
            if discussions:
                _discussions(ask, repository, kept)
    except GithubException as error:
        raise GithubRefused(_explained(error, repository)) from None
    except requests.RequestException as error:
        raise GithubRefused(f"GitHub cannot be reached: {error}; the pages there are stay") from None


def _changed(
    ask: Requester, place: str, marks: dict[str, Any], parameters: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield what changed since the mark of a list, the longest ago first, and move the mark along."""
    mark = marks.setdefault(place, {"since": "", "etag": ""})
    page, fixed = 1, {"per_page": 100, "sort": "updated", "direction": "asc", **parameters}
    while True:
        since = {"since": mark["since"]} if mark["since"] else {}
        known = {"If-None-Match": mark["etag"]} if mark["etag"] and page == 1 else {}
        headers, found = _asked(
            lambda query=fixed | since | {"page": page}, known=known: ask.requestJsonAndCheck(
                "GET", place, query, known
            )
        )
        if not found:  # 304, or nothing at all
            return
        yield from found
        last = str(found[-1]["updated_at"])
        more = 'rel="next"' in headers.get("link", "")
        if last == mark["since"]:
            page += 1  # a page full of one second
            mark["etag"] = "" if more else headers.get("etag", "")
        else:
            page, mark["etag"] = 1, ""
            mark["since"] = last
            more = more or page == 1
        if not more:
            return


def _discussions(ask: Requester, repository: str, kept: dict[str, Any]) -> None:
    """Read the discussions that changed, the latest first; the mark moves when all of them are there."""
    owner, _, name = repository.partition("/")
    variables: dict[str, Any] = {"owner": owner, "name": name, "after": None}
    before, latest = kept["marks"].get("discussions", ""), ""
    while True:
        _, found = _asked(lambda given=variables: ask.graphql_query(_DISCUSSIONS, given))
        page = found["data"]["repository"]["discussions"]
        for item in page["nodes"]:
            at = str(item.get("updatedAt") or "")
            latest = max(latest, at)
            if at >= before:
                kept["discussions"][str(item["number"])] = _flat(item)
        oldest = str(page["nodes"][-1].get("updatedAt") or "") if page["nodes"] else ""
        if not page["pageInfo"]["hasNextPage"] or (before and oldest < before):
            kept["marks"]["discussions"] = max(before, latest)
            return
        variables = variables | {"after": page["pageInfo"]["endCursor"]}


def _asked(request: Any) -> Any:
    """Ask, and again after a while where GitHub says to; raises what it refuses for longer."""
    for tried in range(1, TRIES + 1):
        try:
            return request()
        except GithubException as error:
            wait = _wait(error, tried)
            if wait is None or wait > PATIENCE or tried == TRIES:
                raise
            time.sleep(wait)
    raise AssertionError("unreachable")


def _wait(error: GithubException, tried: int) -> float | None:
    """Return the seconds to wait before asking again; None where that would not help.

    After GitHub's own advice: `retry-after`, else the time of `x-ratelimit-reset` where nothing remains, else
    a minute and longer.
    """
    headers = {key.lower(): value for key, value in (error.headers or {}).items()}
    if error.status >= 500:
        return float(2**tried)
    if not _is_limit(error):
        return None
    if headers.get("retry-after", "").isdigit():
        return float(headers["retry-after"])
    if headers.get("x-ratelimit-remaining") == "0" and headers.get("x-ratelimit-reset", "").isdigit():
        return max(float(headers["x-ratelimit-reset"]) - time.time(), 0.0) + 1.0
    return 60.0 * tried


def _is_limit(error: GithubException) -> bool:
    headers = {key.lower(): value for key, value in (error.headers or {}).items()}
    told = str(error.data).lower()
    return error.status == 429 or (
        error.status in (400, 403)
        and (
            "rate limit" in told
            or "rate_limited" in told
            or "retry-after" in headers
            or headers.get("x-ratelimit-remaining") == "0"
        )
    )


def _flat(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return a discussion with its lists as lists, not as pages of GraphQL, and replies as comments."""
    flat = dict(item) | {key: _nodes(item, key) for key in ("comments", "labels")}
    every = [one for comment in flat["comments"] for one in (comment, *_nodes(comment, "replies"))]
    answer = item.get("answer")
    if answer and answer.get("id") not in [one.get("id") for one in every] and answer.get("body"):
        every.append(answer)  # beyond the first fifty
    flat["comments"] = [{key: one[key] for key in one if key != "replies"} for one in every]
    return flat


def _nodes(item: Mapping[str, Any], key: str) -> list[Any]:
    listed = item.get(key)
    return list(listed.get("nodes") or ()) if isinstance(listed, dict) else []


def _explained(error: GithubException, repository: str) -> str:
    told = str((error.data or {}).get("message", "") if isinstance(error.data, dict) else error)
    if _is_limit(error):
        at = datetime.fromtimestamp(time.time() + (_wait(error, 1) or 0.0), UTC).strftime("%H:%M UTC")
        return (
            f"GitHub takes no more requests for {repository} before {at}; what was read is kept, and the "
            f"next run goes on (with GITHUB_TOKEN in .env 5,000 an hour are allowed instead of 60)"
        )
    what = {
        401: "the token is not taken; renew GITHUB_TOKEN in .env",
        403: "it is not allowed; set a GITHUB_TOKEN in .env that may read it",
        404: "there is no such repository, or the token may not see it; correct `repository`",
    }
    return f"GitHub refuses {repository} ({error.status} {told}): {what.get(error.status, 'try later')}"
