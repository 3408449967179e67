"""What may stand after a command, in chat and on the command line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Place = Literal["terminal", "chat", "both"]


@dataclass(frozen=True, slots=True)
class Option:
    """What may stand after a command.

    In chat it is a value at its place, or `--name value`, which is the only way where it is `named`; `--name`
    for a flag, whose dashes people may leave out. One that takes the `rest` is the last, and has all words
    that are left. On the command line a value has its place unless it is `named` or `dashed`.
    """

    name: str
    help: str
    required: bool = False
    kind: Literal["text", "person", "channel", "flag", "number", "share", "path"] = "text"
    choices: tuple[str, ...] = ()
    named: bool = False
    rest: bool = False
    hidden: bool = False
    """Left out of the usage; for what Discord needs a field for and people type otherwise."""
    where: Place = "both"
    dashed: bool = False
    """Written `--name value` on the command line though it has a place in chat."""
    many: bool = False
    """On the command line it takes several values."""
    repeated: bool = False
    """On the command line it may be given several times."""
    default: Any = None
    alone: str = ""
    """What `--name` means without a value."""
    metavar: str = ""
    most: int = 10_000
    """Largest number that is taken in chat."""
    called: str = ""
    """What a number is called where it is refused; `--name` where nothing is said."""

    @property
    def usage(self) -> str:
        """Return how it is written in chat: `[release]`, `[--dry-run]`, `[--days …]`."""
        if self.kind == "flag":
            written = f"--{self.name}"
        elif self.named:
            written = f"--{self.name} {'|'.join(self.choices) or '…'}"
        else:
            written = "|".join(self.choices) or (self.name.upper() if self.required else self.name)
        return written if self.required else f"[{written}]"

    @property
    def key(self) -> str:
        """Return the name that `Given` has its value under."""
        return self.name.replace("-", "_")
