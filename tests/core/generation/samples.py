"""Handmade evidence, and a model that says what it is told."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from core.domain import ContextChunk, Evidence
from core.errors import ModelError
from core.ports import ModelHealth, Prompt

SESSIONS = """\
In addition to the request object there is also a second object called `session`. To use sessions you have \
to set a secret key. Here is how sessions work:

```python
app.secret_key = b'...'
session['username'] = name
```

The session cookie lives until the browser closes. Set `PERMANENT_SESSION_LIFETIME` to keep it for 31 days."""

UPLOADS = """\
### File Uploads

You can handle uploaded files easily. Just set `enctype="multipart/form-data"` on your HTML form.

- Files are kept in memory or at a temporary location.
- Use `secure_filename()` before you store a name."""


def evidence(
    number: int,
    page: str,
    *,
    title: str = "Quickstart",
    heading: str = "Sessions",
    release: str = "3.1",
    **given: Any,
) -> Evidence:
    url = f"https://docs.example.org/{title.lower()}/#{heading.lower().replace(' ', '-')}"
    chunk = ContextChunk(
        f"c{number}", f"{title.lower()}.rst", title, heading, given.pop("url", url), page, release=release
    )
    return Evidence(number, chunk, given.pop("score", 1 / (60 + number)), **given)


class Told:
    """A language model that streams a given text, then raises or ends as told."""

    name = "told"

    def __init__(
        self,
        text: str = "",
        *,
        context_tokens: int = 8192,
        error: ModelError | None = None,
        structured: dict[str, Any] | ModelError | None = None,
    ) -> None:
        self.text = text
        self.context_tokens = context_tokens
        self.error = error
        self.output = structured
        self.prompts: Sequence[Prompt] = ()
        self.temperature = 0.0
        self.max_tokens = 0
        self.closed = False

    def count_tokens(self, text: str) -> int:
        return (len(text) + 2) // 3

    async def stream(
        self, prompts: Sequence[Prompt], *, temperature: float, max_tokens: int
    ) -> AsyncIterator[str]:
        self.prompts, self.temperature, self.max_tokens = prompts, temperature, max_tokens
        try:
            for start in range(0, len(self.text), 5):
                yield self.text[start : start + 5]
            if self.error is not None:
                raise self.error
        finally:
            self.closed = True

    async def structured(
        self, prompts: Sequence[Prompt], schema: dict[str, Any], *, max_tokens: int
    ) -> dict[str, Any]:
        self.prompts, self.max_tokens = prompts, max_tokens
        if isinstance(self.output, ModelError):
            raise self.output
        return self.output or {}

    async def health(self) -> ModelHealth:
        return ModelHealth(True)
