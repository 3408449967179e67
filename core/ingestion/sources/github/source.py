"""Issues and discussions of a GitHub repository that came to an answer, from its API or from an export."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, cast

from pydantic import AfterValidator, Field

from core.catalogue import SourceOptions, SourceSpec, Text
from core.domain import RawDocument, content_hash
from core.errors import TooCostly
from core.ingestion.sources._conversations import Told, document
from core.ports import LeftOut, Workers
from core.ports.history import Post
from core.privacy.names import never, no_name, nobody
from core.settings import Settings
from core.system.json_parts import whole, written
from core.system.private_files import private_folder, write_whole
from core.text.words import one_line

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


def _repository(value: str) -> str:
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", value):
        raise ValueError('owner and name of a repository, "pallets/flask"')
    return value


PATIENCE = 5.0
"""Times as long as a document an export, or what is kept of a repository, may take to be read."""
_WITHHELD = "withheld"
"""What is kept of an issue whose author opted out: that there was one."""


class Options(SourceOptions):
    """`repository` is asked over the API (with GITHUB_TOKEN, which discussions need), or `export` is read.

    An export is a JSON file, a list as `gh issue list --json …` prints. `labels` chooses by label,
    `answers` is "settled" (closed as done or an answer chosen) or "any"; `api` is the address of an own
    GitHub.
    """

    repository: Annotated[str, AfterValidator(_repository)]
    export: str = ""
    what: tuple[Literal["issues", "discussions"], ...] = Field(("issues",), strict=False)
    labels: list[Text] = Field(default_factory=list)
    answers: Literal["settled", "any"] = "settled"
    api: str = "https://api.github.com"
    apart: ClassVar[tuple[str, ...]] = ("export", "what", "labels", "answers", "api")

    @property
    def called(self) -> str:
        """Return the repository."""
        return self.repository


class GithubSource:
    """Read what was asked and answered on GitHub; only what changed is asked for again.

    Who opted out and has an account linked as `github:name` is left out, in what is kept here as well.
    """

    def __init__(self, spec: SourceSpec, home: Path, workers: Workers, token: str = "") -> None:
        self.is_out: Callable[[str], bool] = nobody
        self.forgotten: Callable[[str], float] = never
        self.one_way: Callable[[str], str] = no_name
        self.asks = True
        self.may_be_empty = False
        self.withheld = 0
        self._options = cast(Options, spec.options)
        self._spec, self._workers = spec, workers
        self._token = token
        self.name = f"github:{self._options.called}{spec.suffix}"
        key = content_hash(self._options.api, self._options.repository)[:16]
        self._kept = home / "sources" / "github" / f"{key}.json"
        self.skipped: list[tuple[str, str]] = []

    def heed(self, people: LeftOut) -> None:
        """Leave these people out of every reading from now on."""
        self.is_out, self.forgotten, self.one_way = people.is_out, people.forgotten, people.one_way

    def withhold(self) -> None:
        """Take what these people wrote out of the copy of the repository; blocking. Raises OSError."""
        if self._kept.exists():
            from core.ingestion.sources.github.api import nothing_kept  # PyGithub costs a start

            kept = self._load(nothing_kept())
            self._drop_words(kept)
            write_whole(self._kept, written(kept))

    def documents(self) -> Iterator[RawDocument]:
        """Yield each issue and discussion with an answer; raises SourceError."""
        self.skipped, self.withheld = [], 0
        found = self._exported() if self._options.export else list(self._fetched())
        for kind, entire in found:
            item = self._without(entire)
            if item is None:
                continue
            path = f"{kind}/{item.get('number')}"
            told = conversation(item)
            if self._options.labels and not labels_of(item) & set(self._options.labels):
                self.skipped.append((path, "it has none of the labels"))
            elif isinstance(told, str):
                self.skipped.append((path, told))
            elif self._options.answers == "settled" and not told.settled:
                self.skipped.append((path, "it was not settled"))
            else:
                yield document(path, told, one_line(str(item.get("title") or "")), self._author)

    def _exported(self) -> list[tuple[str, Mapping[str, Any]]]:
        place = self._spec.resolve(self._options.export)
        try:
            found = self._workers.run(whole, place, patience=PATIENCE)
        except OSError as error:
            raise self._spec.error(f"{place} cannot be read: {error.strerror}; correct `export`") from None
        except (ValueError, TooCostly) as error:
            raise self._spec.error(
                f"{place} is not JSON that can be read: {error}; export it again"
            ) from None
        if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
            raise self._spec.error(f"{place} is no list of issues; `gh issue list --json …` makes one")
        return [("discussions" if "answer" in item else "issues", item) for item in found]

    def _fetched(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        from core.ingestion.sources.github.api import (  # PyGithub costs a start
            GithubRefused,
            nothing_kept,
            renew,
        )

        wanted = self._options.what
        if "discussions" in wanted and not self._token:
            raise self._spec.error("Discussions need a token; set GITHUB_TOKEN in .env")
        kept = self._load(nothing_kept())
        refused = ""
        asks, self.asks = self.asks, True
        try:
            if asks:
                renew(
                    kept,
                    self._options.repository,
                    api=self._options.api,
                    token=self._token,
                    issues="issues" in wanted,
                    discussions="discussions" in wanted,
                )
        except GithubRefused as error:
            refused = str(error)
        self._drop_words(kept)
        self._save(kept)  # how far it came, too
        if refused:
            raise self._spec.error(refused)
        # a twin of this source may keep the others in the same place
        for number in sorted(kept["issues"] if "issues" in wanted else (), key=int):
            comments = list(kept["comments"].get(number, {}).values())
            yield "issues", kept["issues"][number] | {"comments": comments}
        for number in sorted(kept["discussions"] if "discussions" in wanted else (), key=int):
            yield "discussions", kept["discussions"][number]

    def _without(self, item: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Leave out the comments of people who opted out; None where they asked."""
        if item.get(_WITHHELD):
            self.withheld += 1
            return None
        comments = [c for c in item.get("comments") or () if isinstance(c, dict)]
        if self._is_out(item):
            self.withheld += 1 + len(comments)
            return None
        kept = [comment for comment in comments if not self._is_out(comment)]
        self.withheld += len(comments) - len(kept)
        return {**item, "comments": kept} if len(kept) < len(comments) else item

    def _is_out(self, item: Mapping[str, Any]) -> bool:
        login = author_of(item)
        accounts = (f"github:{login}", f"github:{login.lower()}")
        until = max(self.forgotten(account) for account in accounts)
        return any(self.is_out(account) for account in accounts) or bool(until and written_at(item) <= until)

    def _author(self, login: str) -> str:
        return self.one_way(f"github:{login.lower()}")

    def _drop_words(self, kept: dict[str, Any]) -> None:
        """Take what people wrote who opted out from what is kept for the next run."""
        for number, comments in kept["comments"].items():
            gone = [key for key, comment in comments.items() if self._is_out(comment)]
            for key in list(comments) if self._is_out(kept["issues"].get(number, {})) else gone:
                del comments[key]
        for kind in ("issues", "discussions"):
            for number, item in kept[kind].items():
                left = self._without(item)
                kept[kind][number] = {_WITHHELD: True} if left is None else dict(left)
        self.withheld = 0

    def _load(self, empty: dict[str, Any]) -> dict[str, Any]:
        try:
            found = self._workers.run(whole, self._kept, patience=PATIENCE)
            is_ours = found.keys() == empty.keys() and all(type(found[k]) is type(empty[k]) for k in empty)
            is_dated = not found["whole"] or datetime.fromisoformat(found["whole"]).tzinfo
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError, TooCostly):
            return empty
        return found if is_ours and is_dated else empty

    def _save(self, kept: dict[str, Any]) -> None:
        try:
            private_folder(self._kept.parent)
            write_whole(self._kept, written(kept))
        except OSError as error:
            raise self._spec.error(f"{self._kept} cannot be written: {error.strerror}; make room") from None


def open_source(spec: SourceSpec, settings: Settings, workers: Workers) -> GithubSource:
    """Build the source of a GitHub repository."""
    return GithubSource(spec, settings.home, workers, settings.github_token.get_secret_value().strip())
