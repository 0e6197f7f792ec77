"""A slice of the fuzzer: the ways in which tfteach runs a step agree."""

from __future__ import annotations

import pytest

from tests.fuzz.flow_updates import differences


@pytest.mark.parametrize("seed", [1, 2, 4, 5, 7, 8, 37, 41, 43, 61, 62, 68, 1123])
def test_updates_in_loops_and_branches(seed: int) -> None:
    assert differences(seed, None) == []
