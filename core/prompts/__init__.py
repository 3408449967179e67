"""Everything that is said to the language model, in one place.

Functions return (system, user) texts. What others wrote (documentation, thread, remembered answers)
stands between tags that it cannot close, and the system text says that it is data.
"""

from core.prompts.answering import (
    PROMPT_VERSION,
    REASONING,
    REASONING_SCHEMA,
    answer_system,
    answer_user,
    code_fault,
    conversation,
    data,
    evidence,
    ordering,
    orders,
    rejected,
    releases_of,
    without_orders,
    wrong,
    wrong_citations,
    wrong_language,
)
from core.prompts.dont_know import DONT_KNOW
from core.prompts.judging import SAME_SCHEMA, SUPPORTED_SCHEMA, same, supported
from core.prompts.reading import (
    GUESS_SCHEMA,
    REDUCE_SCHEMA,
    SELECT_SCHEMA,
    TRIPLETS_SCHEMA,
    guess,
    reduce,
    select,
    triplets,
)
from core.prompts.reasoning import (
    EXPRESSIONS_SCHEMA,
    KNOWLEDGE_SCHEMA,
    SUMMARY_SCHEMA,
    attribute,
    calculated,
    expressions,
    knowledge,
    known,
    summary,
)
from core.prompts.understanding import UNDERSTAND_SCHEMA, understand

__all__ = [
    "DONT_KNOW",
    "EXPRESSIONS_SCHEMA",
    "GUESS_SCHEMA",
    "KNOWLEDGE_SCHEMA",
    "PROMPT_VERSION",
    "REASONING",
    "REASONING_SCHEMA",
    "REDUCE_SCHEMA",
    "SAME_SCHEMA",
    "SELECT_SCHEMA",
    "SUMMARY_SCHEMA",
    "SUPPORTED_SCHEMA",
    "TRIPLETS_SCHEMA",
    "UNDERSTAND_SCHEMA",
    "answer_system",
    "answer_user",
    "attribute",
    "calculated",
    "code_fault",
    "conversation",
    "data",
    "evidence",
    "expressions",
    "guess",
    "knowledge",
    "known",
    "ordering",
    "orders",
    "reduce",
    "rejected",
    "releases_of",
    "same",
    "select",
    "summary",
    "supported",
    "triplets",
    "understand",
    "without_orders",
    "wrong",
    "wrong_citations",
    "wrong_language",
]
