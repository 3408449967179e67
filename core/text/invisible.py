"""Characters that nobody sees: taken out of what others wrote, where it enters.

A text may hold more than it shows: zero-width characters, marks that turn its direction around, tags that
spell hidden words, bytes in variation selectors. A model reads them all. What belongs to how a script or
an emoji is written stays: joiners between letters that join, and inside of emoji.
"""

from __future__ import annotations

import re
import unicodedata

# Hidden are Unicode's format characters (Cf) and others that show nothing, controls, and what no standard
# assigns to a character: private use, lone surrogates, noncharacters.
_HIDDEN = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef\ufffe\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\U000f0000-\U0010ffff"
    + "".join(f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0x10000, 0xF0000, 0x10000))
)
_REGIONS = "|".join(
    "".join(chr(0xE0000 + ord(letter)) for letter in region) for region in ("gbeng", "gbsct", "gbwls")
)
_FLAG = f"\U0001f3f4(?:{_REGIONS})\U000e007f"
"""The flags of England, Scotland and Wales, the only ones that Unicode spells with tags."""
_SEEN = re.compile(f"{_FLAG}|[{_HIDDEN}]")
_BREAKS = frozenset("\x0b\x0c\x1c\x1d\x1e\x1f\x85\u2028\u2029")

# Arabic to N'Ko, the scripts of India and its neighbours, Tibetan, Burmese, Khmer, Mongolian, Balinese.
_JOINING = re.compile(
    "[\u0600-\u07ff\u0840-\u0dff\u0f00-\u109f\u1780-\u18af\u1b00-\u1bff\ua800-\ua8ff\ua9e0-\ua9ff\uaa60-\uaa7f"
    "\uabc0-\uabff\ufb50-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc]"
)
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1a20-\u1aaf\uaa60-\uaadf]")
"""Thai, Lao, Burmese, Khmer and their kin, whose words have nothing but U+200B between them."""
_MONGOLIAN = re.compile("[\u1820-\u18aa]")
_JAMO = re.compile("[\u1100-\u115e\u1161-\u11ff]")
_EMOJI = re.compile(
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f"
    "\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_TONE = re.compile("[\U0001f3fb-\U0001f3ff]")


def visible(text: str) -> str:
    """Return a text without the characters that nobody sees; what breaks a line becomes a line break.

    Letters and their accents are one character, as keyboards have them: macOS writes names of files in two.
    """
    return unicodedata.normalize("NFC", _SEEN.sub(_kept, text))


def _kept(found: re.Match[str]) -> str:
    sign = found[0]
    if len(sign) > 1:
        return sign
    if sign in _BREAKS:
        return "\n"
    text, at = found.string, found.start()
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if sign in "\u200c\u200d":
        fits = _joins_letters(before, after, sign) or (sign == "\u200d" and _joins_emoji(text, at, after))
    elif sign in "\ufe0e\ufe0f":
        fits = _chooses_emoji(before, after)
    elif sign == "\u200b":
        fits = bool(_UNSPACED.match(before) and _UNSPACED.match(after))
    elif "\u180b" <= sign <= "\u180f":
        fits = bool(_MONGOLIAN.match(before))
    elif sign in "\u115f\u1160":
        fits = bool(_JAMO.match(after if sign == "\u115f" else before))
    else:
        fits = False
    return sign if fits else ""


def _joins_letters(before: str, after: str, sign: str) -> bool:
    """Return True if a joiner stands where its script has it: between letters, or after a virama (ZWJ)."""
    if not _JOINING.match(before) or unicodedata.category(before)[0] not in "LM":
        return False
    if _JOINING.match(after):
        return unicodedata.category(after)[0] in "LM"
    return sign == "\u200d" and unicodedata.combining(before) == 9


def _joins_emoji(text: str, at: int, after: str) -> bool:
    before = text[at - 1 : at]
    if before == "\ufe0f":
        before = text[at - 2 : at - 1]
    return bool(_EMOJI.match(before) or _TONE.match(before)) and bool(_EMOJI.match(after))


def _chooses_emoji(before: str, after: str) -> bool:
    """Return True if a selector says how the emoji before it is drawn; a digit is one only in a keycap."""
    keycap = before != "" and before in "0123456789#*" and after == "\u20e3"
    return keycap or bool(_EMOJI.match(before))
