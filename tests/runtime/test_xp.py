"""Floating-point warnings are silent in a run, and only there, by either way."""

from __future__ import annotations

import numpy as np
import pytest

from tfteach.runtime import xp


@pytest.mark.parametrize("way", ["numpy's variable", "np.errstate"])
def test_float_errors_are_ignored_and_then_not(way: str) -> None:
    errors = xp.float_errors if way == "numpy's variable" else xp._ErrState()
    with np.errstate(all="raise"):
        mode = errors.set(xp.IGNORED)
        try:
            assert np.isinf(np.float32(3e38) * np.float32(10.0))
        finally:
            errors.reset(mode)
        with pytest.raises(FloatingPointError):
            np.float32(3e38) * np.float32(10.0)
