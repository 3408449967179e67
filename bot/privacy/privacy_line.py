"""The one sentence on privacy that stands in profiles, help and footers."""

from core.languages import N_

PRIVACY = N_(
    "I keep what you ask me and how you vote, so that answers get better. `/threadlore my-data` shows it to "
    "you, `/threadlore forget me` removes it, and with `/threadlore opt-out` nothing of yours is kept."
)
