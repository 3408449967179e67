"""reStructuredText with Sphinx."""

import re

from core.ingestion.formats import Kind

KIND = Kind(
    (".rst",),
    ("text/x-rst", "text/prs.fallenstein.rst"),
    reaching=re.compile(rb"include::|^[^\S\n]*:file:|^[^\S\n]*\.\. auto", re.M),
)
