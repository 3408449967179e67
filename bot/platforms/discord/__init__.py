"""Discord."""

import re

TOKENS = ("DISCORD_TOKEN",)
CHANNELS_HAVE_IDS = True
LIBRARIES = ("discord",)
SECRETS = re.compile(
    r"\b[\w-]{23,28}\.[\w-]{6,7}\.[\w-]{27,}|(?<=/webhooks/)\d+/[\w-]+|(?<=/interactions/)\d+/[\w-]+"
)
