"""The report on follow-ups: figures as JSON and as Markdown tables, and how each message went."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_HOW = """\
Every message of a conversation but the first is asked in each form of one pool: the answers of all \
conversations of the set, of both halves. Retriever: cosine of the topic (weight .3), BM25 of Base and of \
Filtered (.35 each), 40 candidates each, scores stretched to 0..1 and added. Encoder: {encoder}.

- found@k: the message's own answer is among the first k.
- kept@k: the same, of those messages whose answer is among the first k with the person's rewrite.
- agreed@k: what the person's rewrite finds first is among the first k.
"""


def write(folder: Path, results: Sequence[Mapping[str, Any]], told: Sequence[Mapping[str, Any]]) -> None:
    """Write `followups.json`, `followups.md` and `followups.jsonl` to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "followups.json").write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n", "utf-8")
    (folder / "followups.md").write_text(markdown(results), "utf-8")
    lines = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in told)
    (folder / "followups.jsonl").write_text(lines, "utf-8")


def markdown(results: Sequence[Mapping[str, Any]]) -> str:
    """Write the figures of every set of conversations as Markdown."""
    parts = ["# Follow-ups", _HOW.format(encoder=results[0]["encoder"] if results else "").strip()]
    for result in results:
        head = f"## {result['conversations']}, half `{result['half']}`, {result['passages']} passages"
        changed, same = result["follow-ups"], result["stand-alone"]
        parts += [head, f"{changed['n']} follow-ups, which the person rewrote:", _table(changed["forms"])]
        untouched = f"{same['untouched']:.3f}" if same["n"] else "–"
        parts.append(
            f"{same['n']} messages that the person left as they are; the rules leave {untouched} of them:"
        )
        parts.append(_table(same["forms"]) if same["n"] else "(none)")
    return "\n\n".join(parts) + "\n"


def _table(forms: Mapping[str, Mapping[str, float]]) -> str:
    names = list(next(iter(forms.values())))
    rows = [f"| asked as | {' | '.join(names)} |", f"|---|{'---:|' * len(names)}"]
    rows += [
        f"| {form} | {' | '.join(f'{row[name]:.3f}' for name in names)} |" for form, row in forms.items()
    ]
    return "\n".join(rows)
