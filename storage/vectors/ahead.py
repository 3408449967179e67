"""Loads what the process of the vector index needs, without what it does not."""

from __future__ import annotations

import sys

# Chroma brings jsonschema, which takes this where it is installed, for addresses that nobody here checks:
# 38 grammars, which take a second of every start
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

import storage.vectors.calls  # noqa: E402, F401
