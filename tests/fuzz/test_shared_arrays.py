"""A slice of `tests.fuzz.shared_arrays`, for every run of the tests."""

from __future__ import annotations

import pytest

from tests.engine.test_every_op import CASES
from tests.fuzz.shared_arrays import shared_in
from tests.ops.case import Case


@pytest.mark.parametrize("as_constants", [False, True], ids=["fed", "constants"])
@pytest.mark.parametrize("case", CASES[::23], ids=str)
def test_nobody_else_holds_what_is_fetched(case: Case, as_constants: bool) -> None:
    assert not list(shared_in(case, as_constants))
