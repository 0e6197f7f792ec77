"""A function called for each number below a limit, its results stacked.

Source: python/ops/parallel_for/control_flow_ops.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfteach.autodiff.jacobian import register_row_loop
from tfteach.control.loop import while_loop
from tfteach.control.tensor_array import TensorArray
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType
from tfteach.framework.operation import Tensor
from tfteach.ops.core.constant import constant


@register_row_loop
def for_loop(
    function: Callable[[Any], Sequence[Any]],
    dtypes: Sequence[DType],
    count: Any,
    parallel_iterations: int | None = None,
) -> list[Tensor | None]:
    """The results of `function`, each stacked along a new first axis.

    Args:
      function: from a number, an int32 scalar, to tensors; a result that is None is
        None for all numbers.
      dtypes: the types of its results.
      count: the number of calls, an int or an int32 scalar.
      parallel_iterations: the number of calls that may overlap (10 by default).
    """
    missing = [False] * len(dtypes)

    def call(i: Any, *written: TensorArray) -> Any:
        found = function(i)
        missing[:] = [value is None for value in found]
        pairs = zip(written, found, strict=True)
        return i + 1, *[a if v is None else a.write(i, convert(v)) for a, v in pairs]

    _, *arrays = while_loop(
        lambda i, *_: i < count,
        call,
        (constant(0), *[TensorArray(dtype, count) for dtype in dtypes]),
        parallel_iterations=parallel_iterations or 10,
    )
    return [
        None if is_missing else array.stack()
        for array, is_missing in zip(arrays, missing, strict=True)
    ]
