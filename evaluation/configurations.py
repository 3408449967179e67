"""What the harness compares: the product with steps on and off, and other ways to retrieve (QAMR IV-C)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from core.retrieval.fusion import Weights
from core.retrieval.pregenerated import FIELDS
from evaluation.baselines import Mix


@dataclass(frozen=True, slots=True)
class Configuration:
    """Which of a recipe's stages are left, and how pages are found; a recipe as it is where nothing is said.

    Without a `mix` retrieval is the recipe's own.

    `standalone` asks follow-ups in the form that a person wrote for them, as a bound for rewriting;
    without `pairs` those made of documents are not searched. With `fields` pages are found by these pairs
    alone, by the fields named (all as tuned where the tuple is empty).
    """

    name: str
    rewrite: bool = True
    dual: bool = True
    reduce: bool = True
    select: bool = True
    mix: Mix | None = None
    standalone: bool = False
    pairs: bool = True
    fields: tuple[str, ...] | None = None

    @property
    def searches_otherwise(self) -> bool:
        """Return True if pages are not found as the recipe finds them."""
        return bool(self.mix or self.fields is not None) or not (self.dual and self.pairs)


def _alone(name: str, **on: bool) -> Configuration:
    """Return a configuration of one step, all others off."""
    off = Configuration(name, rewrite=False, dual=False, reduce=False, select=False)
    return replace(off, **on)  # type: ignore[arg-type]  # all that is switched is a bool


CONFIGURATIONS: tuple[Configuration, ...] = (
    _alone("base"),
    _alone("+rewrite", rewrite=True),
    _alone("+dual-chunk", dual=True),
    _alone("+reduce", reduce=True),
    _alone("+select", select=True),
    Configuration("all"),
    Configuration("stand-alone", standalone=True),
    Configuration("no pairs", pairs=False),
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
