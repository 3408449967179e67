"""What logs are not to hold of Slack."""

from __future__ import annotations

import re

LIBRARIES = ("slack_bolt", "slack_sdk")
SECRETS = re.compile(
    r"\bxox[a-z]-[\w-]+|\bxapp-[\w-]+|(?<=hooks\.slack\.com/)[\w/-]+|(?<=[?&]ticket=)[^&\s\"']+"
)
