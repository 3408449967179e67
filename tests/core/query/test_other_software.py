"""Software beside the product that a question names."""

from __future__ import annotations

import pytest

from core.domain import Product, Release
from core.query.other_software import other_software, speaks_of

KETTLE = Product("Kettle", ("kettle", "kettle-py"), (Release("2.0"),))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("how do I boil behind nginx", ("nginx",)),
        ("slash commands for my discord.py bot", ("discord",)),
        ("kettle-login: remember me", ("kettle-login",)),
        ("pg is slow", ("postgresql",)),
        ("upload it to aws s3", ("aws", "s3")),
        ("502s from the aws alb", ()),
        ("the db is on AWS", ()),
        ("print a literal {{ }} (vue on the same page)", ()),
        ("boil(redis) in aws (and celery)", ("redis", "aws")),
        ("on aws, how do i give my aws role to it", ("aws",)),
        ("how do i migrate from heroku", ("heroku",)),
        ("how do i create a bucket in aws", ("aws",)),
        # the product, its language, formats and protocols, words
        ("how do I start kettle", ()),
        ("python 3.12 and kettle-py", ()),
        ("return JSON over a websocket", ()),
        ("(node:81) [KET011] KettleWarning: boil() is deprecated", ()),
        ("an old script without asyncio, whats the replacement", ()),
        ("click the button to go on", ()),
        ("git pulled in both of them, chrome shows the old one and pycharm too", ()),
        ("curl -X PATCH /lid gets refused, wget and postman too", ()),
    ],
)
def test_other_software_is_told_from_the_product_and_from_formats(text: str, names: tuple[str, ...]) -> None:
    assert other_software(text, KETTLE) == names


def test_a_text_speaks_of_software_in_any_spelling() -> None:
    assert speaks_of("Put it behind Nginx.", ("nginx",)) and speaks_of("Use `psql`.", ("postgresql",))
    assert not speaks_of("Put it behind a proxy.", ("nginx",))
