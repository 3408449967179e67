"""What an integration of a language model raises, as errors that say what to do."""

from __future__ import annotations

from core.errors import (
    ModelBusy,
    ModelError,
    ModelInterrupted,
    ModelMissing,
    ModelRefused,
    ModelUnavailable,
)

_AWAY = ("Timeout", "Connect", "TransportError", "RemoteProtocolError", "ServiceUnavailable")
"""What stands in the names of clients' errors where nothing answers."""


def failure(error: Exception, words: str, model: str, setting: str, begun: bool) -> ModelError:
    """Return the error for what a client raised; `words` are its own, `begun` once a first piece has come."""
    if isinstance(error, ModelError):
        return error
    if begun:
        return ModelInterrupted(f"{model} broke off its answer ({words}). Ask again.")
    match _status(error):
        case 401 | 403:
            return ModelRefused(f"{model} wants a login ({words}). Correct the key in {setting}.")
        case 404:
            return ModelMissing(
                f"{model} is not there ({words}). Correct the model or the address in {setting}."
            )
        case 429 | 503 | 529:
            return ModelBusy(f"What serves {model} has too much to do ({words}). Try later.")
        case int(status) if status in (408, 409) or status >= 500:
            return ModelUnavailable(f"What serves {model} fails ({words}). Look at its log, or try later.")
        case int():
            return ModelRefused(f"{model} rejects the request ({words}). Correct the options in {setting}.")
    if isinstance(error, (ConnectionError, TimeoutError)) or _is_away(error):
        return ModelUnavailable(
            f"{model} does not answer ({words}). Start what serves it, or correct its address in {setting}."
        )
    return ModelRefused(f"{model} cannot be asked ({words}). Correct its options in {setting}.")


def _status(error: Exception) -> int | None:
    """Return the HTTP status that clients put at different places."""
    response = getattr(error, "response", None)
    for holder, name in ((error, "status_code"), (response, "status_code"), (error, "code")):
        status = getattr(holder, name, None)
        if isinstance(status, int) and 400 <= status < 600:
            return status
    return None


def _is_away(error: Exception) -> bool:
    return any(sign in kind.__name__ for kind in type(error).__mro__ for sign in _AWAY)
