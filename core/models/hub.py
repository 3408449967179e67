"""Hugging Face's server, where models are downloaded: asked once, before its libraries ask for minutes."""

from __future__ import annotations

import logging
import ssl
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

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
    """Return True if a web server answers, whatever it says, and whoever vouches for it; blocking."""
    try:
        asked = Request(address, method="HEAD")
        with urlopen(asked, timeout=SECONDS):  # nosec B310 # its own library says it
            return True
    except HTTPError:
        return True
    except (OSError, ValueError) as error:
        if isinstance(getattr(error, "reason", None), ssl.SSLError):  # its libraries know more certificates
            return True
        log.warning("%s does not answer: only models that were downloaded before can be used.", address)
        return False
