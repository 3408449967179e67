"""Turn a message into the query forms of QAMR step 1, by rule: completed, filtered, versionless."""

from __future__ import annotations

from core.domain import Product, Queries, Question, Resolution
from core.query import glossary
from core.query.decompose import parts
from core.query.followups.checks import checked
from core.query.followups.complete import complete
from core.query.forms import filtered, topic, without
from core.query.releases.mentions import mentions

__all__ = ["checked", "complete", "queries", "topic"]


def queries(question: Question, product: Product, resolution: Resolution) -> Queries:
    """Return the query forms of a question; pure, well under a millisecond for a chat message.

    `base` is the message itself where it stands alone, else its completion from the thread.
    """
    completion = complete(question.text, question.history, product)
    base = completion.text
    found = mentions(base, product, resolution.release)
    plain = filtered(base)
    versionless = filtered(without(base, found)) if found else ""
    added = glossary.expansions(base, product.glossary)
    return Queries(
        base=base,
        filtered=" ".join([plain, *added]),
        versionless=" ".join([versionless, *added]) if versionless else "",
        # a completion may hold the earlier question too, which has its answer already
        parts=parts(base) if base == question.text or len(parts(question.text)) > 1 else (base,),
        topic=topic(base, product, found),
        rewritten=base != question.text,
        carried=completion.carried,
    )
