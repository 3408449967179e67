"""Loads what the process of the vector index needs, without what it does not."""

from __future__ import annotations

import logging
import sys

# Chroma reads `.env` when it is imported, and would tell of lines that the bot has told of
logging.getLogger("dotenv.main").setLevel(logging.ERROR)
# Chroma brings jsonschema, which takes this where it is installed, for addresses that nobody here checks:
# 38 grammars, which take a second of every start
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

import storage.vectors.calls  # noqa: E402, F401
