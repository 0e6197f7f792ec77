"""Functions for arrays in host memory, with a separate version for arrays on a GPU.

Kernels are the same for NumPy and CuPy, unless the host's caches and cores favour
another algorithm than a GPU, or TensorFlow's GPU kernels return other results.  Such a
function is written twice; its callers are unaware of that.  For whole ops there is
`compute_on_card`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

_P = ParamSpec("_P")
_R = TypeVar("_R")
_Kernel = Callable[Concatenate[Any, _P], _R]  # the first argument is NumPy or CuPy


def is_on_host(xp: Any) -> bool:
    """Whether arrays of this module are in host memory."""
    return xp is np


def with_card_kernel(
    on_card: _Kernel[_P, _R],
) -> Callable[[_Kernel[_P, _R]], _Kernel[_P, _R]]:
    """Decorator: the function is for NumPy, `on_card` for all other array modules.

    Example:
      >>> def _take_on_card(xp, array, index):
      ...     return array[index]
      >>> @with_card_kernel(_take_on_card)
      ... def take(xp, array, index):
      ...     return array.take(index, axis=0, mode="clip")  # NumPy copies only once
    """

    def decorate(on_host: _Kernel[_P, _R]) -> _Kernel[_P, _R]:
        @functools.wraps(on_host)
        def call(xp: Any, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
            if xp is np:
                return on_host(xp, *args, **kwargs)
            return on_card(xp, *args, **kwargs)

        return call

    return decorate
