"""A kernel gets its caller's epilogue only for the result that it is for."""

from __future__ import annotations

import numpy as np
import pytest

from tfteach.framework.epilogue import Epilogue, take


def test_it_runs_on_ranges_of_the_result() -> None:
    def double(result: np.ndarray, begin: int, end: int) -> None:
        result[begin:end] *= 2

    result = np.ones((2, 3))
    with Epilogue((2, 3), np.dtype("float64"), double) as epilogue:
        finish = take(result)
        assert finish is not None
        finish(1, 4)
        assert take(result) is None  # once
    assert result.tolist() == [[1, 2, 2], [2, 1, 1]]
    assert epilogue.result is result


@pytest.mark.parametrize(
    "result",
    [np.ones((3, 2)), np.ones((2, 3), "float32"), np.ones((3, 2)).T],
    ids=["shape", "type", "order"],
)
def test_it_is_for_no_other_result(result: np.ndarray) -> None:
    with Epilogue((2, 3), np.dtype("float64"), lambda *_: None) as epilogue:
        assert take(result) is None
    assert epilogue.result is None


def test_one_that_is_not_ready_learns_that_it_would_have_run() -> None:
    result = np.ones((2, 3))
    with Epilogue((2, 3), np.dtype("float64"), None) as epilogue:
        assert take(result) is None
    assert epilogue.result is result


def test_it_ends_with_its_block_also_after_errors() -> None:
    outer = Epilogue((1,), np.dtype("float64"), lambda *_: None)
    with outer:
        with pytest.raises(ZeroDivisionError), Epilogue((2,), np.dtype("int8"), None):
            raise ZeroDivisionError
        assert take(np.ones(1)) is not None
    assert take(np.ones(1)) is None
