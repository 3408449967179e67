"""What `corpora.toml` says: the product, its releases, where their documents lie, channels, people.

Every mistake is a ConfigurationError that names file, line, key and what is allowed there.
"""

from core.catalogue.loading import load_catalogue
from core.catalogue.sources import Catalogue, ChannelSettings, Grant, SourceKinds, SourceSpec
from core.catalogue.tables import Mode, SourceOptions, Text, without_password

__all__ = [
    "Catalogue",
    "ChannelSettings",
    "Grant",
    "Mode",
    "SourceKinds",
    "SourceOptions",
    "SourceSpec",
    "Text",
    "load_catalogue",
    "without_password",
]
