"""Slack."""

import re

TOKENS = ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN")
CHANNELS_HAVE_IDS = True
SENDS_NO_FILES = True
"""Apps may send files only with more rights than answering takes."""
LIBRARIES = ("slack_bolt", "slack_sdk")
SECRETS = re.compile(
    r"\bxox[a-z]-[\w-]+|\bxapp-[\w-]+|(?<=hooks\.slack\.com/)[\w/-]+|(?<=[?&]ticket=)[^&\s\"']+"
)
