"""Slack."""

import re

CHANNELS_HAVE_IDS = True
SENDS_NO_FILES = True
"""Apps may send files only with more rights than answering takes."""
LIBRARIES = ("slack_bolt", "slack_sdk")
SECRETS = re.compile(
    r"\bxox[a-z]-[\w-]+|\bxapp-[\w-]+|(?<=hooks\.slack\.com/)[\w/-]+|(?<=[?&]ticket=)[^&\s\"']+"
)
