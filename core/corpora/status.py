"""What `status` and the pages show of corpora and memory, as plain values that JSON can hold."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from core.domain import Product, Release
from core.ingestion.reading import Progress
from core.memory.scoring import DAY_SECONDS
from core.ports import BUILD, Census, Corpus, SourceRun
from core.text.times import day_of, iso

Row = dict[str, Any]


def release_row(release: Release, product: Product, corpus: Corpus | None, is_learning: bool = False) -> Row:
    """Return a release and how ready it is; one that `is_learning` its sentences does not answer as well."""
    return {
        "name": release.name,
        "aliases": list(release.aliases),
        "latest": release == product.latest,
        "ready": corpus is not None,
        "learning": is_learning,
        "documents": corpus.documents if corpus else 0,
        "chunks": corpus.chunks if corpus else 0,
        "built_at": iso(corpus.built_at) if corpus else None,
        "encoder": corpus.encoder if corpus else None,
    }


def source_rows(runs: Iterable[SourceRun]) -> list[Row]:
    """Return how each source was read."""
    return [
        {
            "release": run.release,
            "source": run.source,
            "read_at": iso(run.at),
            "succeeded_at": iso(run.succeeded_at) if run.succeeded_at else None,
            "failures": run.failures,
            "level": run.level,
            "skipped": [list(entry) for entry in run.skipped],
        }
        for run in runs
        if run.source != BUILD
    ]


def memory_size(census: Census) -> Row:
    """Return how many pairs each store holds, and how that grew day by day."""
    stored = sum(entry.kept + entry.waiting for entry in census.stores)
    growth: list[Row] = []
    for day, added in reversed(census.days):
        before = stored - added
        share = round(added / before, 4) if before else None
        growth.insert(
            0, {"day": day_of(day * DAY_SECONDS), "stored": stored, "added": added, "growth": share}
        )
        stored = before
    return {"stores": [asdict(entry) for entry in census.stores], "growth": growth}


def progress_row(progress: Progress) -> Row:
    """Return how far some index work is."""
    return {
        "release": progress.release,
        "source": progress.source,
        "stage": progress.stage,
        "doing": progress.doing,
        "unit": progress.unit,
        "done": progress.done,
        "total": progress.total,
        "rate": progress.rate,
        "eta_s": progress.eta_s,
    }


def problems(
    releases: Sequence[Row],
    running: Collection[str],
    encoder: str,
    runs: Iterable[SourceRun],
    memory: Mapping[str, Any],
) -> list[str]:
    """Say what is wrong and what to do about it; `running` are the releases that are being indexed."""
    found = [
        f"{row['name']} is not indexed yet; run `threadlore index --release {row['name']}`."
        for row in releases
        if not row["ready"] and row["name"] not in running
    ]
    found += [
        f"{row['name']} was embedded by {row['encoder']}, EMBEDDING_MODEL is {encoder}; run "
        f"`threadlore index --rebuild`."
        for row in releases
        if row["encoder"] not in (None, encoder)
    ]
    found += [f"{run.source} of {run.release} failed: {run.error}" for run in runs if run.error]
    if stale := memory["stale"]:
        found.append(
            f"{stale} remembered answers cite pages that changed; `threadlore memory stale` lists them."
        )
    if bursts := memory["bursts"]:
        found.append(f"{bursts} bursts of votes in the last days; `threadlore memory bursts` lists them.")
    return found
