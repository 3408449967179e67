"""Units, and numbers in words."""

from __future__ import annotations

from core.vocabulary.written import spellings, word_list

UNITS: dict[str, str] = spellings("""
b byte bytes
kb kilobyte kilobytes kib
mb megabyte megabytes mib meg megs
gb gigabyte gigabytes gib gig gigs
tb terabyte terabytes tib
ms millisecond milliseconds msec msecs
s sec secs second seconds
min mins minute minutes
h hr hrs hour hours
d day days
week weeks
month months
year years yr yrs
px pixel pixels
pt point points
em rem
% percent pct
hz khz mhz ghz
k thousand
million m mio
usd $ dollar dollars bucks
eur euro euros
x times
kg kilogram kilograms
cm centimeter centimetre
mm millimeter millimetre
km kilometer kilometre
mph
bit bits
char chars character characters
row rows
column columns
line lines
item items
user users
request requests
worker workers
thread threads
core cores cpu cpus
digit digits
""")
"""Units after a number, each to one spelling."""

NUMBER_WORDS: dict[str, str] = {
    word: digits
    for word, _, digits in (
        pair.partition("=")
        for pair in word_list(
            """one=1 two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 ten=10 eleven=11 twelve=12
            zero=0 single=1 double=2 twice=2 twenty=20 fifty=50 hundred=100 thousand=1000"""
        )
    )
}
"""Numbers in words, to digits."""
