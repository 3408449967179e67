"""Questions that believe a name to be gone."""

from __future__ import annotations

import pytest

from core.domain import Product, Release
from core.query.releases.news import gone, premised, unknown_argument

KETTLE = Product("Kettle", ("kettle",), (Release("2.0"),))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("is before_start gone? what now", ("before_start",)),
        ("_job_stack still there?", ("_job_stack",)),
        ("what replaced KETTLE_ENV", ("KETTLE_ENV",)),
        ("what happened to kettle.ext", ("kettle.ext",)),
        ("is `clear` deprecated?", ("clear",)),
        ("it times out. happens with apply_async(5)", ()),
        ("what happened to kettle-primer", ("kettle-primer",)),
        ("what became of before_start", ("before_start",)),
        ("what is before_start called now?", ("before_start",)),
        ("did they get rid of KETTLE_ENV?", ("KETTLE_ENV",)),
        ("what replaced resultcallback", ("resultcallback",)),
        ("ImportError: cannot import name 'escape' from 'kettle'", ("escape",)),
        ("can't import name 'escape' from kettle", ("escape",)),
        ("cant import Markup from kettle any longer", ("Markup",)),
        ("could not import url_quote from kettle.urls", ("url_quote",)),
        ("importing escape from kettle fails since the update", ("escape",)),
        ("Kettle has no method called before_start", ("before_start",)),
        ("the request has no attr is_hot", ("is_hot",)),
        ("can't import my module from its parent", ()),
        ("cannot import my blueprint", ()),
        ("How do I make sure that users can not import data from csv?", ()),
        ("importing jobs from redis fails when the queue is full", ()),
        ("it does not import settings from kettle's env", ("settings",)),
        ("Kettle has no method to start jobs", ()),
        ("why does the job have no function for retries?", ()),
        ("users that have no member role", ()),
        ("Kettle has no method before_start", ("before_start",)),
        ("a Kettle has no method `boil`", ("boil",)),
        ("ImportError: cannot import name 'url' from 'kettle.conf.urls'", ("kettle.conf.urls.url",)),
        ("ImportError: cannot import name 'JobKey' from 'kettle.jobs' (/a/b.py)", ("JobKey",)),
        ("AttributeError: 'Kettle' object has no attribute 'env'. Did you mean: 'end'?", ("env",)),
        ("send() got an unexpected keyword argument 'cache_time'", ("cache_time",)),
        ("ModuleNotFoundError: No module named 'kettle.ext'", ("kettle.ext",)),
        ("NameError: name 'soft_escape' is not defined", ("soft_escape",)),
        ("DeprecationWarning: 'kettle.json_encoder' is deprecated", ("kettle.json_encoder",)),
        ("no such option: --eager", ("--eager",)),
        ("error: unrecognized arguments: --eager", ("--eager",)),
        ("pot-viewer --eager is unknown now", ("--eager",)),
        ("--eager was not recognised since the update", ("--eager",)),
        (
            'Traceback (most recent call last):\n  File "a.py", line 2, in <module>\n    app.env\n'
            "AttributeError: 'Kettle' object has no attribute 'env'",
            ("env",),
        ),
        ("what do I use instead of before_start", ("before_start",)),
        ("start the boiler from a script instead of typing it", ()),
        ("before_start was fine on 1.9, moved to 2 and now it fails", ("before_start",)),
        ("res.body = x gives a 500 since the upgrade. what do I write instead", ("res.body",)),
        ("my create_app() was fine on 2.2, now before_start fails", ("create_app", "before_start")),
        ("which option is used to be able to set KETTLE_ENV?", ()),
        ("I have worked with kettle.Option before. how do I pass a `callback`?", ()),
        ("I set SECRET_KEY and everything was ok, but session_cookie is not set", ()),
        ("how do I set SECRET_KEY", ()),
        ("is it still there?", ()),
        ("since the update the server does not stop any more", ()),
        ("ctrl-c hangs, the process is still running", ()),
        ("is streaming still supported", ("streaming",)),
        ("does escaping still exist", ("escaping",)),
        ("DeprecationWarning: the object should be created in `start_all()`", ()),
        ("what was removed in 2.0?", ()),
    ],
)
def test_names_are_read_from_questions_and_errors(text: str, names: tuple[str, ...]) -> None:
    assert gone(text, KETTLE) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("how do I use before_start in 2.0?", ("before_start",)),
        ("since when does before_start run twice?", ("before_start",)),
        ("why does `clear` take so long", ("clear",)),
        ("what does KETTLE_ENV do", ("KETTLE_ENV",)),
        # what knows of the end, or asks for it
        ("is before_start gone?", ()),
        ("when was before_start removed?", ()),
        ("how do I migrate from before_start?", ()),
        ("how do I move away from KETTLE_ENV", ()),
        ("what replaced KETTLE_ENV", ()),
        ("how do I start without before_start?", ()),
        ("cannot import name 'escape' from 'kettle'", ()),
        ("how do I start the kettle", ()),
    ],
)
def test_names_that_a_question_takes_for_there(text: str, names: tuple[str, ...]) -> None:
    assert premised(text, KETTLE) == names


def test_the_function_is_known_that_did_not_know_an_argument() -> None:
    made = "TypeError: Client.__init__() got an unexpected keyword argument 'lid'"
    assert unknown_argument(made) == ("Client", "lid")
    assert unknown_argument("TypeError: Pot.send() got an unexpected keyword argument 'lid'") == (
        "send",
        "lid",
    )
    assert unknown_argument("AttributeError: 'Kettle' object has no attribute 'env'") == ("", "")
