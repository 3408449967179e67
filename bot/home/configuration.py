"""Where the configuration file lies."""

from __future__ import annotations

from pathlib import Path

from core.errors import ConfigurationError
from core.settings import Settings


def find_catalogue(settings: Settings) -> Path:
    """Return the `corpora.toml` to use: the named one, or the first of the usual places.

    The last of them is the playground's own, which comes with the code.
    """
    if settings.config is not None:
        return settings.config
    places = [
        Path("corpora.toml"),
        settings.home / "corpora.toml",
        Path(__file__).parents[2] / "corpora.toml",
    ]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise ConfigurationError(
            f"There is no corpora.toml here or in {settings.home}; write one (README.md shows how) or name "
            f"it with --config."
        )
    return found
