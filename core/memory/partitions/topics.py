"""Where a pair belongs: the partition it is in, and the vector of its topic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from core.domain import Store, Vector, content_hash
from core.languages import DEFAULT
from core.ports import CorpusStore, Encoder, Remembered
from core.system.offload import aside


@dataclass(frozen=True, slots=True)
class Encoders:
    """Which encoder makes the vectors of a release."""

    default: Encoder
    by_release: dict[str, Encoder]

    def of(self, release: str) -> Encoder:
        """Return the encoder of a release, or of the first of several that are compared."""
        return self.by_release.get(release.split("+")[0], self.default)


async def kept(corpora: CorpusStore, encoders: Encoders, pairs: Iterable[Remembered]) -> dict[str, Vector]:
    """Return the vectors that are kept, by pair id."""
    pairs = list(pairs)
    found: dict[str, Vector] = {}
    for encoder, keys in await aside(len(pairs), _keys, encoders, pairs):
        vectors = await corpora.vectors(encoder.name, list(keys.values()))
        found |= await aside(len(keys), _filed, keys, vectors)
    return found


async def made(corpora: CorpusStore, encoders: Encoders, pairs: Iterable[Remembered]) -> dict[str, Vector]:
    """Return the vectors of all pairs, by pair id; those that a changed encoder lacks are made now."""
    pairs = list(pairs)
    found = await kept(corpora, encoders, pairs)
    if len(found) == len(pairs):
        return found
    for encoder, some in _by_encoder(encoders, (pair for pair in pairs if pair.id not in found)):
        fresh = await embedded(corpora, encoder, [pair.topic for pair in some])
        found |= {pair.id: fresh[pair.topic] for pair in some}
    return found


async def embedded(corpora: CorpusStore, encoder: Encoder, topics: Iterable[str]) -> dict[str, Vector]:
    """Return the vectors of topics by their text; those that are not kept yet are made and kept."""
    keys = {topic: content_hash(topic) for topic in topics}
    known = await corpora.vectors(encoder.name, list(keys.values()))
    missing = [topic for topic, key in keys.items() if key not in known]
    if missing:
        fresh = dict(zip((keys[topic] for topic in missing), await encoder.encode(missing), strict=True))
        await corpora.put_vectors(encoder.name, fresh)
        known |= fresh
    return {topic: known[key] for topic, key in keys.items()}


def _keys(encoders: Encoders, pairs: Iterable[Remembered]) -> list[tuple[Encoder, dict[str, str]]]:
    """Return for each encoder the hash of every pair's topic, by the pair's id."""
    return [
        (encoder, {pair.id: content_hash(pair.topic) for pair in some})
        for encoder, some in _by_encoder(encoders, pairs)
    ]


def _filed(keys: Mapping[str, str], vectors: Mapping[str, Vector]) -> dict[str, Vector]:
    return {pair_id: vectors[key] for pair_id, key in keys.items() if key in vectors}


def _by_encoder(
    encoders: Encoders, pairs: Iterable[Remembered]
) -> Iterable[tuple[Encoder, list[Remembered]]]:
    sorted_out: dict[str, tuple[Encoder, list[Remembered]]] = {}
    for pair in pairs:
        encoder = encoders.of(pair.release)
        sorted_out.setdefault(encoder.name, (encoder, []))[1].append(pair)
    return sorted_out.values()


Key = tuple[str, str, Store]
"""A partition of memory: release, who hears it, store."""
EVERY_RELEASE = "*"
"""Release of a pair that holds for all of them."""
PRIVATE = "private:"
OTHER_LANGUAGE = "~"
"""Stands before the language in who hears a pair that is not in English: `public~de`."""


def platform_of(name: str) -> str:
    """Return the platform of an account or channel such as `slack:C1`; empty where it names none."""
    platform, colon, _ = name.partition(":")
    return platform if colon else ""


def key_of(pair: Remembered, store: Store, share: bool = True) -> Key:
    """Return the partition of a pair in that store; answers in another language than English have their own.

    Platforms that do not share have partitions of their own; imported pairs have no platform and are for
    all of them.
    """
    platform = "" if share or pair.scope != "public" else platform_of(pair.channel or pair.asker)
    heard = f"public@{platform}" if platform else pair.scope
    language = "" if pair.language in ("", DEFAULT) else f"{OTHER_LANGUAGE}{pair.language}"
    return (pair.release, heard + language, store)


def scope_of(heard: str) -> str:
    """Return who hears a partition, without the language of its answers."""
    return heard.partition(OTHER_LANGUAGE)[0]
