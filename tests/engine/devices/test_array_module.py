"""Floating-point warnings are silent in a run, and only there, by either way."""

from __future__ import annotations

import numpy as np
import pytest

from tfteach.engine.devices import array_module


@pytest.mark.parametrize("way", ["numpy's variable", "np.errstate"])
def test_float_errors_are_ignored_and_then_not(way: str) -> None:
    errors = (
        array_module.float_errors
        if way == "numpy's variable"
        else array_module._ErrState()
    )
    with np.errstate(all="raise"):
        mode = errors.set(array_module.IGNORED)
        try:
            assert np.isinf(np.float32(3e38) * np.float32(10.0))
        finally:
            errors.reset(mode)
        with pytest.raises(FloatingPointError):
            np.float32(3e38) * np.float32(10.0)
