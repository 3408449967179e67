from __future__ import annotations

import itertools

import pytest

from core.text.version_order import normalised, oldest_first, preliminary


@pytest.mark.parametrize(
    "ordered",
    [
        ["2.0", "2.3", "2.10", "3.1"],
        ["R15.4", "R17.2", "R17.10"],
        ["v1", "v3", "v20"],
        ["2023.4", "2024.1"],
        ["4.0.dev1", "4.0a2", "4.0b1", "4.0rc1", "4.0", "4.0.1"],
        ["2.9", "v3", "release 4", "main"],
        ["1.x", "2.x"],
        ["2024-01-15", "2024-02-01"],
        ["22.04 jammy", "24.04 noble"],
    ],
)
def test_releases_go_from_old_to_new(ordered):
    for shuffled in itertools.islice(itertools.permutations(ordered), 30):
        assert oldest_first(shuffled) == ordered


def test_names_that_do_not_compare_stay_as_the_file_has_them():
    assert oldest_first(["noble", "jammy"]) == ["noble", "jammy"]
    assert oldest_first(["R2", "noble", "R1"]) == ["R1", "noble", "R2"]
    assert oldest_first(["R2", "17.1", "R1", "16.0"]) == ["R1", "16.0", "R2", "17.1"]


def test_a_pre_release_is_no_release():
    assert [
        n for n in ("4.0rc1", "5.0-beta2", "main", "4.0.dev3", "4.0", "noble", "3.1-alpine") if preliminary(n)
    ] == [
        "4.0rc1",
        "5.0-beta2",
        "main",
        "4.0.dev3",
    ]


def test_a_v_and_case_do_not_make_another_name():
    assert normalised(" V3.1") == normalised("3.1")
    assert normalised("v.3.1") == normalised("v 3.1")
    assert normalised("R17.2") == "r17.2"
    assert normalised("17.2") != normalised("17.20")
