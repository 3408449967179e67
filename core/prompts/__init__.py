"""Everything that is said to the language model, in one place.

Functions return (system, user) texts. What others wrote (documentation, thread, remembered answers)
stands between tags that it cannot close, and the system text says that it is data.
"""

from core.prompts.answering import (
    REASONING,
    REASONING_SCHEMA,
    answer_system,
    answer_user,
    evidence,
    rejected,
)
from core.prompts.judging import SAME_SCHEMA, SUPPORTED_SCHEMA, same, supported
from core.prompts.reading import REDUCE_SCHEMA, SELECT_SCHEMA, reduce, select
from core.prompts.tagged import DONT_KNOW, PROMPT_VERSION, conversation, data, releases_of
from core.prompts.understanding import UNDERSTAND_SCHEMA, understand

__all__ = [
    "DONT_KNOW",
    "PROMPT_VERSION",
    "REASONING",
    "REASONING_SCHEMA",
    "REDUCE_SCHEMA",
    "SAME_SCHEMA",
    "SELECT_SCHEMA",
    "SUPPORTED_SCHEMA",
    "UNDERSTAND_SCHEMA",
    "answer_system",
    "answer_user",
    "conversation",
    "data",
    "evidence",
    "reduce",
    "rejected",
    "releases_of",
    "same",
    "select",
    "supported",
    "understand",
]
