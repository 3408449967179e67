"""Jupyter notebooks."""

import re

from core.ingestion.formats import MAX_PICTURED_BYTES, Kind

KIND = Kind(
    (".ipynb",),
    ("application/x-ipynb+json",),
    shared=("application/json",),
    max_bytes=MAX_PICTURED_BYTES,
    reaching=re.compile(rb"8<-|\{%-?\s*include|\{(?:include|literalinclude)\}"),
)
