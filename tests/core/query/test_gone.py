"""Questions that believe a name to be gone."""

from __future__ import annotations

import pytest

from core.domain import Product, Release
from core.query.releases.news import gone

KETTLE = Product("Kettle", ("kettle",), (Release("2.0"),))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("is before_start gone? what now", ("before_start",)),
        ("_job_stack still there?", ("_job_stack",)),
        ("what replaced KETTLE_ENV", ("KETTLE_ENV",)),
        ("what happened to kettle.ext", ("kettle.ext",)),
        ("is `clear` deprecated?", ("clear",)),
        ("what became of before_start", ("before_start",)),
        ("what is before_start called now?", ("before_start",)),
        ("did they get rid of KETTLE_ENV?", ("KETTLE_ENV",)),
        ("what replaced resultcallback", ("resultcallback",)),
        ("ImportError: cannot import name 'escape' from 'kettle'", ("escape",)),
        ("AttributeError: 'Kettle' object has no attribute 'env'. Did you mean: 'end'?", ("env",)),
        ("send() got an unexpected keyword argument 'cache_time'", ("cache_time",)),
        ("ModuleNotFoundError: No module named 'kettle.ext'", ("kettle.ext",)),
        ("NameError: name 'soft_escape' is not defined", ("soft_escape",)),
        ("DeprecationWarning: 'kettle.json_encoder' is deprecated", ("kettle.json_encoder",)),
        ("no such option: --eager", ("--eager",)),
        (
            'Traceback (most recent call last):\n  File "a.py", line 2, in <module>\n    app.env\n'
            "AttributeError: 'Kettle' object has no attribute 'env'",
            ("env",),
        ),
        ("what do I use instead of before_start", ("before_start",)),
        ("start the boiler from a script instead of typing it", ()),
        ("how do I set SECRET_KEY", ()),
        ("is it still there?", ()),
        ("what was removed in 2.0?", ()),
    ],
)
def test_names_are_read_from_questions_and_errors(text: str, names: tuple[str, ...]) -> None:
    assert gone(text, KETTLE) == names
