"""What the harness compares: the product with steps on and off, and other ways to retrieve (QAMR IV-C)."""

from __future__ import annotations

from dataclasses import dataclass

from core.retrieval.fusion import Weights
from core.retrieval.pregenerated import FIELDS
from evaluation.baselines import Mix


@dataclass(frozen=True, slots=True)
class Configuration:
    """Which steps are on. Without a `mix` retrieval is the product's own.

    `standalone` asks follow-ups in the form that a person wrote for them, as a bound for rewriting;
    without `pairs` those made of documents are not searched. With `fields` pages are found by these pairs
    alone, by the fields named (all as tuned where the tuple is empty).
    """

    name: str
    rewrite: bool = True
    dual: bool = True
    reduce: bool = False
    select: bool = False
    mix: Mix | None = None
    standalone: bool = False
    pairs: bool = True
    fields: tuple[str, ...] | None = None


CONFIGURATIONS: tuple[Configuration, ...] = (
    Configuration("base", rewrite=False, dual=False),
    Configuration("+rewrite", dual=False),
    Configuration("+dual-chunk", rewrite=False),
    Configuration("+reduce", rewrite=False, dual=False, reduce=True),
    Configuration("+select", rewrite=False, dual=False, select=True),
    Configuration("all", reduce=True, select=True),
    Configuration("stand-alone", reduce=True, select=True, standalone=True),
    Configuration("no pairs", reduce=True, select=True, pairs=False),
    Configuration("one corpus", mix=Mix(together=True)),
    Configuration("dense only", mix=Mix(Weights(dense=1.0, lexical=0.0))),
    Configuration("BM25 only", mix=Mix(Weights(dense=0.0, lexical=1.0))),
    Configuration("equal RRF", mix=Mix(Weights(dense=0.5, lexical=0.5), "rank")),
    Configuration("cosine + MMR", mix=Mix(fusion="union")),
)

OF_PAIRS: tuple[Configuration, ...] = (
    Configuration("pairs alone", fields=()),
    *(Configuration(f"pairs: {name.replace('_', ' by ')}", fields=(name,)) for name in FIELDS),
)
"""Each field of the pairs made of documents by itself, and the four together; only where there are pairs."""
