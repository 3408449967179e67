"""`threadlore pregenerate`: questions and answers made of documents by the model, and a sample to review.

A reviewer sets `Keep` to false in the lines of a sample; what is refused is taken out and never kept again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot.commands.command import Command, Given, Option, Result

if TYPE_CHECKING:
    from bot.operations.application import Application
    from core.ingestion.pregeneration.pairs import Maker

SAMPLE = 50
"""Pairs in a sample: what a person reads in a quarter of an hour."""


async def run(app: Application, given: Given) -> Result:
    """Make pairs `by` the model or rules for `release` or all, `most` documents at most, then write `sample`.

    What is done stays done when the model goes away, and the next call goes on. Raises UsageError.
    """
    from core.errors import UsageError

    release = str(given.get("release") or "")
    if release and not app.corpus_manager.known(release):
        names = ", ".join(entry.name for entry in app.corpus_manager.product.releases)
        raise UsageError(f"There is no release {release}; there is: {names}.")
    if given.get("reviewed"):
        return Result({"reviewed": await _review(app, Path(given["reviewed"]))})
    if given.get("sample") and not given.get("by"):
        return Result({"sample": await _sample(app, release, Path(given["sample"]))})
    made = await _made(app, given, release)
    if given.get("sample") and made.problem is None:
        made.data["sample"] = await _sample(app, release, Path(given["sample"]))
    return made


async def _made(app: Application, given: Given, release: str) -> Result:
    """Make the pairs; a model that goes away is the result's problem, beside what was made."""
    from bot.commands.progress import passed_on
    from core.errors import ModelError, ThreadloreError
    from core.ingestion.pregeneration.model import ModelPairs, Tally

    pregeneration = app.corpus_manager.pregeneration
    assert pregeneration is not None
    maker = _maker(app, str(given.get("by") or "model"))
    encoder = await app.corpus_manager.encoders.current()
    made: list[dict[str, Any]] = []
    notes: list[str] = []
    try:
        async with passed_on(given.along) as hear:
            for name in [release] if release else app.corpus_manager.order():
                count = await pregeneration.run(name, encoder, hear, maker, int(given.get("most") or 0))
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
        lines.append(f"{one['release']}: {one['pairs']} pairs; {done}")
        lines += [f"{one['release']}: {one['tally']}"] if "tally" in one else []
    if sample := result.data.get("sample"):
        lines.append(f"{sample['written']} of {sample['pairs']} pairs are in {sample['file']}")
    if reviewed := result.data.get("reviewed"):
        said = f"{reviewed['refused']} of {reviewed['questions']} questions are refused, "
        lines.append(f"{said}{reviewed['removed']} pairs taken out{_again(reviewed['back'])}")
    return lines


def _again(back: int) -> str:
    return f"; {back} may be made again by `threadlore pregenerate`" if back else ""


def _maker(app: Application, by: str) -> Maker:
    from core.errors import UsageError
    from core.ingestion.pregeneration.model import ModelPairs
    from core.ingestion.pregeneration.rules import RulePairs

    if by == "rules":
        return RulePairs()
    if app.engine.model is None:
        raise UsageError("There is no model to ask: set OLLAMA_HOST, or give --by rules.")
    return ModelPairs(app.engine.model)


async def _sample(app: Application, release: str, path: Path) -> dict[str, Any]:
    """Write some pairs by chance, a JSON object a line, for a person to look at; return how many."""
    import asyncio
    import random

    from bot.privacy.exports import note
    from core.errors import UsageError

    assert app.corpus_manager.pregeneration is not None
    pairs = [
        pair
        for name in ([release] if release else app.corpus_manager.order())
        for pair in await app.corpus_manager.pregeneration.pairs(name)
    ]
    chosen = random.sample(pairs, min(SAMPLE, len(pairs)))
    records = ({"Keep": True, **pair.record(), "Path": pair.path} for pair in chosen)
    lines = [json.dumps(record, ensure_ascii=False) for record in records]
    try:
        await asyncio.to_thread(path.write_text, "".join(f"{line}\n" for line in lines), "utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}.") from error
    note(app.settings.home, path)
    return {"written": len(lines), "pairs": len(pairs), "file": str(path)}


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

    found: dict[tuple[str, str], bool] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            asked, kept = (record["Path"], record["Question"]), record["Keep"]
        except (ValueError, KeyError, TypeError):
            asked, kept = ("", ""), None
        if not all(isinstance(one, str) for one in asked) or not isinstance(kept, bool):
            raise UsageError(
                f"{path}, line {number} is no line of a sample; leave each as --sample wrote it and set Keep "
                f"to false where a pair is wrong."
            )
        found[asked] = kept
    return found


COMMAND = Command(
    "pregenerate",
    "admin",
    "make questions and answers of the documents; go on where it stopped",
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
        Option("most", "Documents of a release at most", kind="number", named=True, metavar="N"),
        Option("sample", "Write some of them, for review", kind="path", named=True, metavar="OUT.jsonl"),
        Option(
            "reviewed",
            "Refuse those whose Keep is false in such a file",
            kind="path",
            named=True,
            metavar="IN.jsonl",
        ),
    ),
    who="owner",
    where="terminal",
    changes=True,
    rank=65,
)
