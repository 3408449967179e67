"""Ways to find pages, one a file: `async def find(look: Look) -> Found`. The folder is the registry.

`RETRIEVER` names the one that serves, `+` written for `_`; a recipe may name another one.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Awaitable, Callable
from typing import cast

from core.errors import ConfigurationError
from core.retrieval.found import Found
from core.retrieval.look import Look

Retriever = Callable[[Look], Awaitable[Found]]

DEFAULT = "fusion"


def retrievers() -> tuple[str, ...]:
    """Return the names of the retrievers there are."""
    return tuple(sorted(module.name.replace("_", "+") for module in pkgutil.iter_modules(__path__)))


def retriever_of(name: str) -> Retriever:
    """Return the retriever of a name; raises ConfigurationError, which lists those there are."""
    if name not in retrievers():
        raise ConfigurationError(
            f"There is no retriever '{name}'; RETRIEVER is one of {', '.join(retrievers())}."
        )
    return cast(Retriever, importlib.import_module(f"{__name__}.{name.replace('+', '_')}").find)
