"""What logs are not to hold of Discord."""

from __future__ import annotations

import re

LIBRARIES = ("discord",)
SECRETS = re.compile(
    r"\b[\w-]{23,28}\.[\w-]{6,7}\.[\w-]{27,}|(?<=/webhooks/)\d+/[\w-]+|(?<=/interactions/)\d+/[\w-]+"
)
