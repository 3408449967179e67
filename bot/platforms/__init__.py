"""Chat platforms: each package here is one, found by its name.

A platform is a package with `platform.py`, which has `connect(settings, dispatch)`; where there is a
`doctor.py`, its `examine(settings)` looks at what the platform needs.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from types import ModuleType


def names() -> list[str]:
    """Return the names of all platforms there are."""
    return sorted(module.name for module in iter_modules(__path__))


def part(platform: str, name: str) -> ModuleType:
    """Load one of the modules that the bot asks a platform for; raises ImportError where it has none."""
    return import_module(f"{__name__}.{platform}.{name}")


def has(platform: str, name: str) -> bool:
    """Return True if a platform has a module of that name."""
    return find_spec(f"{__name__}.{platform}.{name}") is not None
