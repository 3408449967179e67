"""Check every invariant of memory against the votes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.domain import Vector
from core.memory.partitions.partition import ROUNDING, Partition
from core.memory.partitions.partition_index import Key, key_of
from core.memory.partitions.vectors import ROWS_AT_ONCE
from core.memory.scoring import Thresholds, is_neutral, score_of
from core.ports import Placement, Remembered

Placed = Sequence[tuple[Placement, Remembered]]


@dataclass(frozen=True, slots=True)
class Searched:
    """One partition as it is searched: its pairs with cluster and better pair, clusters, unit centroids."""

    members: tuple[tuple[str, int | None, str], ...]
    clusters: Mapping[int, tuple[str, ...]]
    centroids: Mapping[int, Vector]


def searched(partitions: Mapping[Key, Partition]) -> dict[Key, Searched]:
    """Copy what is searched, so that it can be checked while votes change it."""
    return {
        key: Searched(
            tuple((i, partition.cluster_of(i), partition.shadowed_by(i)) for i in partition.members),
            partition.clustered,
            {cluster: row.copy() for cluster, row in partition.centroids.items()},
        )
        for key, partition in partitions.items()
    }


def check(
    placed: Placed,
    voted: Sequence[Remembered],
    vectors: Mapping[str, Vector],
    thresholds: Thresholds,
    partitions: Mapping[Key, Searched],
    share: bool = True,
) -> list[str]:
    """Compare saved and searched placements with what the votes give.

    `placed` and `voted` are what the store holds, `vectors` the kept ones by pair id, `partitions`
    what is searched, `share` whether platforms share what they learn. Returns a sentence for each
    thing that is wrong, none where all is well.
    """
    return [
        *_placements(placed, voted, vectors, thresholds),
        *_nearness(placed, vectors, thresholds, share),
        *_mirror(placed, vectors, partitions, share),
    ]


def _placements(
    placed: Placed, voted: Sequence[Remembered], vectors: Mapping[str, Vector], thresholds: Thresholds
) -> list[str]:
    wrong: list[str] = []
    at = {placement.pair_id: placement for placement, _ in placed}
    wrong += [f"{p.id} has votes but stands nowhere" for p in voted if not is_neutral(p) and p.id not in at]
    for placement, pair in placed:
        score = score_of(pair, thresholds)
        if is_neutral(pair):
            wrong.append(f"{pair.id} is in the {placement.store} store without a vote, or was set aside")
        if placement.score != score:
            wrong.append(f"{pair.id} stands with score {placement.score:.4f}, its votes give {score:.4f}")
        if placement.store != thresholds.store(score):
            wrong.append(f"{pair.id} is in the {placement.store} store, its score is {score:.4f}")
        if (placement.cluster is None) != bool(placement.shadowed_by):
            wrong.append(f"{pair.id} is neither just in a cluster nor just behind a better pair")
        if pair.id not in vectors:
            wrong.append(f"{pair.id} has no vector")
        elif abs(float(np.linalg.norm(vectors[pair.id])) - 1) > ROUNDING:
            wrong.append(f"the vector of {pair.id} is not of unit length")
    return wrong


def _nearness(
    placed: Placed, vectors: Mapping[str, Vector], thresholds: Thresholds, share: bool
) -> list[str]:
    """Check that kept pairs are below δ from each other, and each other one behind a better one."""
    wrong: list[str] = []
    partitions: dict[Key, dict[str, tuple[Placement, Remembered]]] = {}
    for placement, pair in placed:
        key = key_of(pair, placement.store, share)
        if pair.id in vectors:
            partitions.setdefault(key, {})[pair.id] = (placement, pair)
    for members in partitions.values():
        if len({len(vectors[pair_id]) for pair_id in members}) > 1:
            wrong.append(f"vectors of {len(members)} pairs have different lengths")
            continue
        kept = [pair_id for pair_id, (placement, _) in members.items() if not placement.shadowed_by]
        matrix = np.stack([vectors[pair_id] for pair_id in kept]) if kept else np.zeros((0, 1))
        for start in range(0, len(kept), ROWS_AT_ONCE):
            near = matrix[start : start + ROWS_AT_ONCE] @ matrix.T
            for row, other in np.argwhere(near >= thresholds.delta + ROUNDING):
                one = start + int(row)
                if one < other:
                    wrong.append(
                        f"{kept[one]} and {kept[other]} are both kept with similarity {near[row, other]:.4f}"
                    )
        for placement, pair in members.values():
            if placement.shadowed_by:
                wrong += _shadow(pair, placement, members, vectors, thresholds)
    return wrong


def _shadow(
    pair: Remembered,
    placement: Placement,
    members: Mapping[str, tuple[Placement, Remembered]],
    vectors: Mapping[str, Vector],
    thresholds: Thresholds,
) -> list[str]:
    better = members.get(placement.shadowed_by)
    if better is None or better[0].shadowed_by:
        return [f"{pair.id} is behind {placement.shadowed_by}, which is not kept beside it"]
    if (-better[0].score, better[1].created_at, better[1].id) > (-placement.score, pair.created_at, pair.id):
        return [f"{pair.id} is behind {placement.shadowed_by}, which is no better"]
    if float(vectors[pair.id] @ vectors[better[1].id]) < thresholds.delta - ROUNDING:
        return [f"{pair.id} is behind {placement.shadowed_by}, which is not near"]
    return []


def _mirror(
    placed: Placed, vectors: Mapping[str, Vector], partitions: Mapping[Key, Searched], share: bool
) -> list[str]:
    """Check that searched and saved placements are equal, and each centroid is its members' mean."""
    wrong: list[str] = []
    written: dict[str, tuple[Key, int | None, str]] = {
        pair.id: (key_of(pair, placement.store, share), placement.cluster, placement.shadowed_by)
        for placement, pair in placed
    }
    found: dict[str, list[tuple[Key, int | None, str]]] = {}
    for key, partition in partitions.items():
        for pair_id, cluster, better in partition.members:
            found.setdefault(pair_id, []).append((key, cluster, better))
    for pair_id in sorted(written.keys() | found.keys()):
        places = found.get(pair_id, [])
        if len(places) > 1:
            wrong.append(f"{pair_id} is searched in {len(places)} stores")
        elif places != [written.get(pair_id)]:
            wrong.append(f"{pair_id} is not searched where it is written down")
    for partition in partitions.values():
        for number, members in partition.clusters.items():
            known = [vectors[key] for key in members if key in vectors]
            if len(known) < len(members):
                continue  # told above: they have no vector, or are not written down
            mean = np.mean(known, axis=0)
            norm = float(np.linalg.norm(mean))
            off = float(np.abs(partition.centroids[number] - (mean / norm if norm else mean)).max())
            if off > ROUNDING:
                wrong.append(f"the centroid of cluster {number} is {off:.5f} off its members' mean")
    return wrong
