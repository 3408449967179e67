"""Ollama. Its library reads OLLAMA_HOST while it is imported, and fails where that names several servers."""

import os

_given = os.environ.pop("OLLAMA_HOST", None)
try:
    import ollama  # noqa: F401
finally:
    if _given is not None:
        os.environ["OLLAMA_HOST"] = _given
