"""`threadlore pregenerate`: questions and answers made of documents by the model, and a sample to review.

A reviewer sets `Keep` to false in the lines of a sample; what is refused is taken out and never kept again.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot.commands.command import Given, Option, Result, at_terminal
from core.text.plurals import counted

if TYPE_CHECKING:
    from bot.operations.application import Application
    from core.ingestion.pregeneration.pairs import Maker

SAMPLE = 50
"""Pairs in a sample: what a person reads in a quarter of an hour."""
NAMED = 10
"""Documents that are named of those that were made."""


async def run(app: Application, given: Given) -> Result:
    """Make pairs `by` the model or rules for `release` or all, `most` documents at most, then write `sample`.

    What is done stays done, page by page, when the model or the caller goes away, and the next call goes on.
    The sample is of what was made, where something was. Raises UsageError.
    """
    from core.errors import UsageError

    release = str(given.get("release") or "")
    if release and not app.corpus_manager.known(release):
        names = ", ".join(entry.name for entry in app.corpus_manager.product.releases)
        raise UsageError(f"There is no release {release}; there is: {names}.")
    if given.get("reviewed"):
        return Result({"reviewed": await _review(app, Path(given["reviewed"]))})
    if given.get("sample") and not (given.get("by") or given.get("most")):
        return Result({"sample": await _sample(app, release, Path(given["sample"]))})
    if given.get("sample"):
        _free(Path(given["sample"]))
    made = await _made(app, given, release)
    if given.get("sample") and made.problem is None:
        paths = {(one["release"], path) for one in made.data["made"] for path in one["made"]}
        made.data["sample"] = await _sample(app, release, Path(given["sample"]), paths)
    return made


async def _made(app: Application, given: Given, release: str) -> Result:
    """Make the pairs; a model that goes away is the result's problem, beside what was made."""
    from bot.commands.progress import passed_on
    from core.errors import ModelError, ThreadloreError
    from core.ingestion.pregeneration.model import ModelPairs, Tally

    pregeneration = app.corpus_manager.pregeneration
    assert pregeneration is not None
    maker = await _maker(app, str(given.get("by") or "model"))
    encoder = await app.corpus_manager.encoders.current()
    made: list[dict[str, Any]] = []
    notes: list[str] = []
    most = int(given.get("most") or 0)
    try:
        async with passed_on(given.along) as hear:
            for name in [release] if release else app.corpus_manager.order():
                left = most - sum(len(one["made"]) for one in made)
                if most and left <= 0:
                    break
                count = await pregeneration.run(name, encoder, hear, maker, left if most else 0)
                if count is None:
                    notes.append(f"{name} has no corpus yet; run `threadlore index --release {name}`.")
                    continue
                tally = {"tally": str(maker.tally)} if isinstance(maker, ModelPairs) else {}
                made.append({"release": name, **asdict(count), **tally})
                if isinstance(maker, ModelPairs):
                    maker.tally = Tally()
    except ModelError as error:
        problem = ThreadloreError(f"{error} What was made is kept; give the command again to go on.")
        return Result({"made": made}, tuple(notes), problem=problem)
    return Result({"made": made}, tuple(notes))


def text(result: Result) -> Sequence[str]:
    """Say what was made, kept for review or refused."""
    lines = []
    for one in result.data.get("made", ()):
        done = f"{one['done']} of {one['documents']} documents by {one['by']}"
        lines.append(f"{one['release']}: {counted(one['pairs'], 'pair')}; {done}")
        lines += [f"{one['release']}: {one['tally']}"] if "tally" in one else []
        if paths := one["made"]:
            more = f" and {len(paths) - NAMED} more" if len(paths) > NAMED else ""
            lines.append(f"{one['release']}: made now: {', '.join(paths[:NAMED])}{more}")
    if sample := result.data.get("sample"):
        lines.append(f"{sample['written']} of {sample['pairs']} pairs are in {sample['file']}")
    if reviewed := result.data.get("reviewed"):
        said = f"{reviewed['refused']} of {reviewed['questions']} questions are refused, "
        lines.append(f"{said}{counted(reviewed['removed'], 'pair')} taken out{_again(reviewed['back'])}")
    return lines


def _again(back: int) -> str:
    return f"; {back} may be made again by `threadlore pregenerate`" if back else ""


async def _maker(app: Application, by: str) -> Maker:
    from core.errors import UsageError
    from core.ingestion.pregeneration.model import ModelPairs
    from core.ingestion.pregeneration.rules import RulePairs
    from core.models.breaker import Breaker

    if by == "rules":
        return RulePairs()
    model = app.engine.model
    if model is None:
        raise UsageError("There is no model to ask: set OLLAMA_HOST, or give --by rules.")
    if isinstance(model, Breaker):  # a process of its own has not looked yet
        await model.probe()
    return ModelPairs(model)


async def _sample(
    app: Application, release: str, path: Path, of: Collection[tuple[str, str]] = ()
) -> dict[str, Any]:
    """Write some pairs by chance, a JSON object a line, for a person to look at; return how many.

    They are those of documents named by release and path, or of all where none is named.
    """
    import asyncio
    import random

    from bot.privacy.exports import note
    from core.errors import UsageError

    assert app.corpus_manager.pregeneration is not None
    _free(path)
    pairs = [
        pair
        for name in ([release] if release else app.corpus_manager.order())
        for pair in await app.corpus_manager.pregeneration.pairs(name)
        if not of or (name, pair.path) in of
    ]
    chosen = random.sample(pairs, min(SAMPLE, len(pairs)))
    records = ({"Keep": True, **pair.record(), "Path": pair.path} for pair in chosen)
    lines = [json.dumps(record, ensure_ascii=False) for record in records]
    try:
        await asyncio.to_thread(_written, path, "".join(f"{line}\n" for line in lines))
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}.") from error
    note(app.settings.home, path)
    return {"written": len(lines), "pairs": len(pairs), "file": str(path)}


def _free(path: Path) -> None:
    """Raise UsageError for a sample that is there already: somebody may have reviewed it."""
    from core.errors import UsageError

    if path.exists():
        raise UsageError(
            f"{path} is there already. If somebody reviewed it, give it to --reviewed first; then remove it, "
            f"or name another file."
        )


def _written(path: Path, text: str) -> None:
    with path.open("x", encoding="utf-8") as file:
        file.write(text)


async def _review(app: Application, path: Path) -> dict[str, Any]:
    """Read a sample that a person has gone through, and take out what is not to be kept; return how much."""
    import asyncio

    assert app.corpus_manager.pregeneration is not None
    keep = _keeps(await asyncio.to_thread(_text, path), path)
    refused = [asked for asked, kept in keep.items() if not kept]
    removed, back = await app.corpus_manager.pregeneration.review(refused, keep.keys() - set(refused))
    return {"refused": len(refused), "questions": len(keep), "removed": removed, "back": back}


def _text(path: Path) -> str:
    from core.errors import UsageError

    try:
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}. Name a file that --sample wrote.") from error


def _keeps(text: str, path: Path) -> dict[tuple[str, str], bool]:
    """Return whether each pair of a reviewed sample is kept, by path and question."""
    from core.errors import UsageError
    from core.system.json_parts import lines_of

    found: dict[tuple[str, str], bool] = {}
    for number, line in enumerate(lines_of(text), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            asked, kept = (record["Path"], record["Question"]), record["Keep"]
        except (ValueError, KeyError, TypeError, RecursionError):
            asked, kept = ("", ""), None
        if not all(isinstance(one, str) for one in asked) or not isinstance(kept, bool):
            raise UsageError(
                f"{path}, line {number} is not a line of a sample; leave each as --sample wrote it and set "
                f"Keep to false where a pair is wrong."
            )
        found[asked] = kept
    return found


COMMAND = at_terminal(
    "pregenerate",
    "admin",
    "generate questions and answers from the documentation; resumes where it stopped",
    run,
    text,
    (
        Option("release", "Only for this release", dashed=True),
        Option(
            "by",
            "Who makes them; the model unless --sample stands alone",
            choices=("model", "rules"),
            named=True,
        ),
        Option(
            "most", "Documents at most, of the latest release first", kind="number", named=True, metavar="N"
        ),
        Option(
            "sample",
            "Write some of them, for review",
            kind="path",
            named=True,
            metavar="OUT.jsonl",
            alone="sample.jsonl",
        ),
        Option(
            "reviewed",
            "Refuse those whose Keep is false in such a file",
            kind="path",
            named=True,
            metavar="IN.jsonl",
        ),
    ),
    changes=True,
    ends_with_caller=True,
    rank=65,
)
