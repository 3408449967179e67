"""Markdown as documentation tools write it."""

import re

from core.ingestion.formats import Kind

KIND = Kind(
    (".md", ".markdown", ".mdx"),
    ("text/markdown", "text/x-markdown"),
    reaching=re.compile(
        rb"\{(?:include|literalinclude|eval-rst|auto\w+)\}|8<-|\{%-?\s*include|\{[!*]>?\s*[\w./@-]+\.|@include:"
        rb"|^[^\S\n]*<<<|\bfile=|^import\s|^(?:#+\s)?:::\s+\w",
        re.M,
    ),
)
