"""The one phrase for having no answer, which the model is told to write and people read."""

from core.languages import N_

DONT_KNOW = N_("I don't know.")
"""It stands alone; between the model and us it is English, people get its translation."""
