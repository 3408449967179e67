"""Asking GitHub's API for issues, comments and discussions, only for what changed since the last time."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import requests
from github import Auth, Github, GithubException
from github.Requester import Requester

OVERLAP = timedelta(minutes=10)
"""How far before the last run changes are asked for again: clocks differ."""
_DISCUSSIONS = """
query ($owner: String!, $name: String!, $answered: Boolean, $after: String) {
  repository(owner: $owner, name: $name) {
  discussions(first: 50, after: $after, answered: $answered) { pageInfo { hasNextPage endCursor } nodes {
    id number title body url createdAt updatedAt author { login }
    labels(first: 20) { nodes { name } }
    reactionGroups { content users { totalCount } }
    answer { id }
    comments(first: 50) { nodes {
      id body url createdAt isAnswer authorAssociation author { login }
      reactionGroups { content users { totalCount } } } }
  } } } }
"""


class GithubRefused(Exception):
    """GitHub did not give what was asked for; the message says what to do."""


def renew(
    kept: dict[str, Any],
    repository: str,
    *,
    api: str,
    token: str,
    issues: bool,
    discussions: bool,
    settled: bool,
) -> None:
    """Bring a copy up to date: issues and comments that changed since, discussions anew.

    `kept` has `since`, and `issues`, `comments` and `discussions` by number. Raises GithubRefused.
    """
    now = datetime.now(UTC)
    since = datetime.fromisoformat(kept["since"]) if kept["since"] else None
    after = {"since": (since - OVERLAP).isoformat()} if since else {}
    client = Github(
        auth=Auth.Token(token) if token else None,
        base_url=api,
        timeout=30,
        verify=os.environ.get("SSL_CERT_FILE") or True,
        seconds_between_requests=0,
    )
    try:
        with client:
            if issues:
                _issues(client.requester, repository, after, kept)
            if discussions:
                found = _discussions(client.requester, repository, settled)
                kept["discussions"] = {str(item["number"]): _flat(item) for item in found}
    except GithubException as error:
        raise GithubRefused(_explained(error, repository)) from None
    except requests.RequestException as error:
        raise GithubRefused(f"GitHub cannot be reached: {error}; the pages there are stay") from None
    kept["since"] = now.isoformat()


def _issues(ask: Requester, repository: str, after: Mapping[str, str], kept: dict[str, Any]) -> None:
    place = f"/repos/{repository}/issues"
    for issue in _pages(ask, place, {"state": "all", **after}):
        if issue["state"] == "closed" and not issue.get("pull_request"):
            kept["issues"][str(issue["number"])] = issue
        else:
            kept["issues"].pop(str(issue["number"]), None)
    for comment in _pages(ask, f"{place}/comments", after):
        number = str(comment["issue_url"]).rpartition("/")[2]
        kept["comments"].setdefault(number, {})[str(comment["id"])] = comment


def _discussions(ask: Requester, repository: str, settled: bool) -> Iterator[Mapping[str, Any]]:
    owner, _, name = repository.partition("/")
    variables = {"owner": owner, "name": name, "answered": settled or None, "after": None}
    while True:
        _, found = ask.graphql_query(_DISCUSSIONS, variables)
        page = found["data"]["repository"]["discussions"]
        yield from page["nodes"]
        if not page["pageInfo"]["hasNextPage"]:
            return
        variables["after"] = page["pageInfo"]["endCursor"]


def _pages(ask: Requester, place: str, parameters: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every entry of a list that comes in pages."""
    page = 1
    while True:
        headers, found = ask.requestJsonAndCheck("GET", place, {"per_page": 100, "page": page, **parameters})
        yield from found
        if 'rel="next"' not in headers.get("link", ""):
            return
        page += 1


def _flat(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return a discussion with its lists as lists, not as pages of GraphQL."""
    flat = dict(item)
    for key in ("comments", "labels"):
        flat[key] = list(
            ((item.get(key) or {}) if isinstance(item.get(key), dict) else {}).get("nodes") or ()
        )
    return flat


def _explained(error: GithubException, repository: str) -> str:
    told = str((error.data or {}).get("message", "") if isinstance(error.data, dict) else error)
    what = {
        401: "the token is not taken; renew GITHUB_TOKEN in .env",
        403: "it is not allowed, or too often; set GITHUB_TOKEN in .env, or try later",
        404: "there is no such repository, or the token may not see it; correct `repository`",
    }
    return f"GitHub refuses {repository} ({error.status} {told}): {what.get(error.status, 'try later')}"
