"""Hugging Face's server, where models are downloaded: asked once, before its libraries ask for minutes."""

from __future__ import annotations

import logging
from pathlib import Path

log = logging.getLogger(__name__)

SECONDS = 5.0
"""Time in which the server answers; its libraries wait ten, six times, for each of many files."""


def only_here(model: str) -> bool:
    """Return True if a model is loaded without the network: a folder, or the server does not answer.

    What was downloaded before is used then. Blocking.
    """
    if Path(model).exists():
        return True
    from huggingface_hub.constants import ENDPOINT, HF_HUB_OFFLINE

    return bool(HF_HUB_OFFLINE) or not answers(ENDPOINT)


def answers(address: str) -> bool:
    """Return True if a web server answers, whatever it says; blocking, for seconds."""
    import httpx

    try:
        httpx.head(address, timeout=SECONDS)
    except (httpx.HTTPError, httpx.InvalidURL, OSError):
        log.warning("%s does not answer: only models that were downloaded before can be used.", address)
        return False
    return True
