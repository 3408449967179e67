"""Where a model server is: its address as somebody wrote it, completed and without credentials."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from core.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Address:
    """A server's URL without credentials, so that it can be shown, and the credentials beside it."""

    url: str
    login: tuple[str, str] | None
    here: bool
    """Whether it is this machine."""

    @classmethod
    def parse(cls, host: str, setting: str = "OLLAMA_HOST", port: int = 11434) -> Address:
        """Complete an address as Ollama's own tools do; raises ConfigurationError where it is none.

        `port` is that of an address without `http://` that names none.
        """
        text = host.strip().rstrip("/") or "127.0.0.1"
        bare = "://" not in text
        try:
            if bare and text.lower().startswith(("http:", "http/", "https:", "https/")):
                raise ValueError("a slip in http://")
            parts = urlsplit(f"http://{text}" if bare else text)
            given = parts.port or (port if bare else 443 if parts.scheme == "https" else 80)
        except ValueError as error:
            raise ConfigurationError(
                f"{setting} is not an address: {host!r}. Write it like http://127.0.0.1:{port}."
            ) from error
        if parts.scheme not in ("http", "https"):
            raise ConfigurationError(
                f"{setting} must begin with http:// or https://, not with {parts.scheme}://."
            )
        name = parts.hostname or "127.0.0.1"
        if name in ("0.0.0.0", "::"):  # nosec B104 # where a server listens is no place to connect to
            name = "127.0.0.1"
        login = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
        shown = f"[{name}]" if ":" in name else name
        here = name in ("localhost", "::1") or name.startswith("127.")
        return cls(f"{parts.scheme}://{shown}:{given}{parts.path}", login, here)


def addresses(text: str) -> tuple[str, ...]:
    """Return the addresses of a setting that may name several, with commas between; each once."""
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
