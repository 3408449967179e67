"""What several processes on one database need."""

from __future__ import annotations

import re

from core.errors import ConfigurationError
from core.settings import Settings


def check_cluster(settings: Settings) -> None:
    """Raise ConfigurationError, which says what to do, where a cluster cannot be served as it is set up."""
    if not settings.cluster:
        return
    if not re.match(r"postgres(ql)?\b", settings.database_url.get_secret_value()):
        raise ConfigurationError(
            "CLUSTER=true needs PostgreSQL, which all processes share: set DATABASE_URL=postgresql://…."
        )
    if not re.fullmatch(r"[0-9a-fA-F]{64}", settings.privacy_key.get_secret_value()):
        raise ConfigurationError(
            "CLUSTER=true needs PRIVACY_KEY, the same for all processes: 64 hex digits, such as "
            "`openssl rand -hex 32` makes (or `xxd -p -c 32 privacy.key` of the home that served alone)."
        )
    if settings.chroma_url:
        raise ConfigurationError(
            "CLUSTER=true goes without CHROMA_URL: each process has a vector index of its own in its home."
        )
    if settings.serves_playground:
        raise ConfigurationError(
            "CLUSTER=true goes without the playground, whose talk is in one home: set "
            "THREADLORE_PLAYGROUND=false and the tokens of Slack or Discord."
        )
