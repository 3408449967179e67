"""Recipes: each names the stages from a question to its answer, in order. The folder is the registry."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import cast

from core.errors import ConfigurationError
from core.pipeline.resources import Resources
from core.pipeline.stage import Stage
from core.retrieval.search import Searcher

Recipe = Callable[[Resources], tuple[Stage, ...]]

DEFAULT = "threadlore"


def recipes() -> tuple[str, ...]:
    """Return the names of the recipes there are, Threadlore's own first."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return (DEFAULT, *(name for name in names if name != DEFAULT))


def recipe_of(name: str) -> Recipe:
    """Return the recipe of a name; raises ConfigurationError, which lists those there are."""
    if name not in recipes():
        raise ConfigurationError(f"There is no recipe '{name}'; RECIPE is one of {', '.join(recipes())}.")
    return cast(Recipe, importlib.import_module(f"{__name__}.{name}").recipe)


def lacking(name: str, searcher: Searcher) -> str:
    """Say that a recipe answers from pairs made of documents, and that there are none; empty otherwise."""
    needs_pairs = getattr(importlib.import_module(f"{__name__}.{name}"), "NEEDS_PAIRS", False)
    if not needs_pairs or not searcher.corpora or searcher.has_pairs():
        return ""
    return (
        f"RECIPE={name} answers only from questions and answers made of the documents, and there are none; "
        "run `threadlore pregenerate`, or set another RECIPE."
    )
