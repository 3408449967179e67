"""Issues and discussions of GitHub, as its API and its command line write them, as conversations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from core.ingestion.sources._conversations import Told
from core.ports.history import Post

MAINTAINERS = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
_LEFT_OPEN = frozenset({"not_planned", "duplicate", "reopened"})


def conversation(item: Mapping[str, Any]) -> Told | str:
    """Read an issue or a discussion with its `comments`; say why where it holds no answer.

    Keys are those of GitHub's REST API or of `gh … --json`. An issue is settled when it was closed as done
    and a maintainer or a vote stands behind an answer, a discussion when an answer was chosen.
    """
    if item.get("pull_request"):
        return "it is a pull request"
    question = _post(item)
    chosen = _chosen(item)
    comments = [_post(comment, chosen) for comment in item.get("comments") or () if isinstance(comment, dict)]
    answers = [post for post in comments if not post.bot and post.text.strip()]
    others = [post for post in answers if post.author != question.author or post.accepted]
    if not others:
        return "nobody answers"
    vouched = {_post(c).id for c in item.get("comments") or () if _association(c) in MAINTAINERS}
    best = sorted(others, key=lambda p: (not p.accepted, -p.votes, p.id not in vouched, -p.at))
    first = best[0]
    settled = first.accepted or (_is_done(item) and (first.votes > 0 or first.id in vouched))
    return Told(question, tuple(best), settled)


def labels_of(item: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of the labels."""
    return frozenset(
        str(label.get("name") if isinstance(label, dict) else label) for label in item.get("labels") or ()
    )


def _is_done(item: Mapping[str, Any]) -> bool:
    reason = str(_first(item, "state_reason", "stateReason") or "").lower()
    return str(item.get("state") or "").lower() == "closed" and reason not in _LEFT_OPEN


def _chosen(item: Mapping[str, Any]) -> str:
    answer = item.get("answer")
    return str(answer.get("id") or answer.get("url") or "") if isinstance(answer, dict) else ""


def author_of(item: Mapping[str, Any]) -> str:
    """Return the name of who wrote an issue, a discussion or a comment; empty where GitHub tells none."""
    return str((_first(item, "user", "author") or {}).get("login") or "")


def written_at(item: Mapping[str, Any]) -> float:
    """Return when it was written, in seconds since the epoch; 0 where GitHub does not tell."""
    at = str(_first(item, "created_at", "createdAt") or "")
    return datetime.fromisoformat(at).timestamp() if at else 0.0


def _post(item: Mapping[str, Any], chosen: str = "") -> Post:
    author = _first(item, "user", "author") or {}
    login = author_of(item)
    link = str(_first(item, "html_url", "url") or "")
    mark = str(item.get("id") or link)
    return Post(
        mark,
        login,
        str(item.get("body") or "").replace("\r\n", "\n"),
        written_at(item),
        link,
        votes=_votes(item),
        accepted=(bool(chosen) and chosen in (mark, link)) or bool(_first(item, "is_answer", "isAnswer")),
        bot=str(author.get("type") or "").lower() == "bot"
        or bool(author.get("is_bot"))
        or author.get("__typename") == "Bot"
        or login.endswith("[bot]"),
    )


def _votes(item: Mapping[str, Any]) -> int:
    counts = item.get("reactions")
    if isinstance(counts, dict):
        return int(counts.get("+1") or 0) + int(counts.get("heart") or 0) + int(counts.get("hooray") or 0)
    groups: Sequence[Any] = _first(item, "reactionGroups") or ()
    good = {"THUMBS_UP", "HEART", "HOORAY"}
    return sum(int((g.get("users") or {}).get("totalCount") or 0) for g in groups if g.get("content") in good)


def _association(item: Any) -> str:
    return (
        str(_first(item, "author_association", "authorAssociation") or "") if isinstance(item, dict) else ""
    )


def _first(item: Mapping[str, Any], *keys: str) -> Any:
    return next((item[key] for key in keys if item.get(key) is not None), None)
