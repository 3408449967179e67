"""reStructuredText with Sphinx."""

import re

from core.ingestion.formats import Kind

KIND = Kind((".rst",), reaching=re.compile(rb"include::|^[^\S\n]*\.\. auto", re.M))
