"""Evenly spaced numbers: `tf.range` and `tf.linspace`.

Source: core/ops/math_ops.cc, core/kernels/sequence_ops.cc.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import dtypes_of, int32
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Folding
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require_scalar
from tfteach.framework.type_aliases import (
    Array,
    ArrayModule,
    DTypeLike,
    Gradient,
    TensorLike,
)
from tfteach.ops.core.identity_reshape import INDICES
from tfteach.ops.math.cast import cast


class Range(Op):
    """start, start + delta, ... up to limit.  Source: math_ops.cc, Range."""

    signature = "start: Tidx, limit: Tidx, delta: Tidx -> output: Tidx"
    Tidx = dtypes_of("bfloat16 float double int32 int64")
    Tidx_default = int32

    by_value: ClassVar[tuple[str, ...]] = ("start", "limit", "delta")
    host_inputs: ClassVar[tuple[str, ...]] = ("start", "limit", "delta")
    host_on_gpu: ClassVar[bool] = True
    folds_while_building: ClassVar[Folding] = Folding.PYTHON

    def infer_shape(self, start: Any, limit: Any, delta: Any) -> Shape:
        if start is None or limit is None or delta is None:
            return (None,)
        return (_range_size(start, limit, delta),)

    def check_shapes(
        self, start: tuple[int, ...], limit: tuple[int, ...], delta: tuple[int, ...]
    ) -> None:
        require_scalar(start, "start must be a scalar, not shape %s")
        require_scalar(limit, "limit must be a scalar, not shape %s")
        require_scalar(delta, "delta must be a scalar, not shape %s")

    def compute(self, xp: ArrayModule, start: Array, limit: Any, delta: Array) -> Any:
        try:
            size = _range_size(start, limit, delta)
        except ValueError as error:
            shown = ": 0" if delta == 0 else ""  # TF has two messages
            raise invalid_argument(f"{error}{shown}") from None
        dtype = np.asarray(start).dtype
        # TF adds delta repeatedly: floats are rounded as in a cumulative sum.
        steps = np.full(size, delta, dtype)
        steps[:1] = start
        return xp.asarray(np.cumsum(steps, dtype=dtype))

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None, None, None]


def _range_size(start: Any, limit: Any, delta: Any) -> int:
    if any(np.ndim(value) for value in (start, limit, delta)):
        raise ValueError("Shape must be rank 0 but is rank 1")
    if delta == 0:
        raise ValueError("Requires delta != 0")
    if delta > 0 and start > limit:
        raise ValueError(f"Requires start <= limit when delta > 0: {start}/{limit}")
    if delta < 0 and start < limit:
        raise ValueError(f"Requires start >= limit when delta < 0: {start}/{limit}")
    if np.asarray(start).dtype.kind == "i":
        return -((int(start) - int(limit)) // int(delta))
    size = abs((limit - start) / delta)
    if not math.isfinite(size):
        raise ValueError(f"Requires a finite size: {start}, {limit}, {delta}")
    result: int = math.ceil(size)
    return result


_WIDENING = dtypes_of("int32 int64 float32 float64")


@export("range")
def range(
    start: TensorLike,
    limit: TensorLike | None = None,
    delta: TensorLike = 1,
    dtype: DTypeLike | None = None,
    name: str = "range",
) -> Tensor:
    """An evenly spaced sequence of numbers.

    output = [start, start + delta, ...], as long as it is below limit

    Args:
      start: number or Tensor []; if it is the only bound, it is the limit, and 0 the
          start.
      limit: number or Tensor [], the end, excluded.
      delta: number or Tensor [], the step.
      dtype: the type; the widest of the three if None.
      name: the op's name.

    Returns:
      A Tensor [ceil((limit - start) / delta)].

    Raises:
      ValueError: `delta` is 0 or has the wrong sign.

    Example:
      >>> tf.Session().run(tf.range(3, 18, 3))
      array([ 3,  6,  9, 12, 15], dtype=int32)

    Source: Range in core/ops/math_ops.cc.
    """
    if limit is None:
        start, limit = 0, start
    with name_scope(name, "Range", [start, limit, delta]) as scope:
        start = convert(start, dtype, name="start")
        limit = convert(limit, dtype, name="limit")
        delta = convert(delta, dtype, name="delta")
        if dtype is None:
            types = [t.dtype.base_dtype for t in (start, limit, delta)]
            if not set(types) <= set(_WIDENING):
                raise AssertionError(  # TensorFlow's class, without a message
                    "range accepts int32, int64, float32 and float64, not "
                    f"{', '.join(t.name for t in types)}. Pass dtype, or cast."
                )
            widest = _WIDENING[max(map(_WIDENING.index, types))]
            start, limit = cast(start, widest), cast(limit, widest)
            delta = cast(delta, widest)
        return Range()(start, limit, delta, name=scope)


class LinSpace(Op):
    """`num` numbers from start to stop.  Source: math_ops.cc, LinSpace."""

    signature = "start: T, stop: T, num: Tidx -> output: T"
    T = dtypes_of("bfloat16 float double")
    Tidx = INDICES
    Tidx_default = int32

    by_value: ClassVar[tuple[str, ...]] = ("num",)
    host_inputs: ClassVar[tuple[str, ...]] = ("start", "stop", "num")
    host_on_gpu: ClassVar[bool] = True

    def infer_shape(self, start: Shape, stop: Shape, num: Any) -> Shape:
        shapes.with_rank(start, 0)
        shapes.with_rank(stop, 0)
        if num is None:
            return (None,)
        if num <= 0:
            raise ValueError(f"Requires num > 0: {int(num)}")
        return (int(num),)

    def check_shapes(
        self, start: tuple[int, ...], stop: tuple[int, ...], num: tuple[int, ...]
    ) -> None:
        require_scalar(start, "start must be a scalar, not shape %s")
        require_scalar(stop, "stop must be a scalar, not shape %s")
        require_scalar(num, "num must be a scalar, not shape %s")

    def compute(self, xp: ArrayModule, start: Array, stop: Array, num: Array) -> Any:
        if num <= 0:
            raise invalid_argument(f"Requires num > 0: {int(num)}")
        dtype = np.asarray(start).dtype
        step = (stop - start) / dtype.type(max(int(num) - 1, 1))
        found = (start + step * np.arange(int(num)).astype(dtype)).astype(dtype)
        found[-1], found[0] = stop, start  # without rounding, and if one is infinite
        return xp.asarray(found)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None, None, None]


@export("lin_space", "linspace")
def linspace(
    start: TensorLike, stop: TensorLike, num: TensorLike, name: str | None = None
) -> Tensor:
    """Evenly spaced numbers between two bounds, both included.

    output[i] = start + i * (stop - start) / (num - 1)

    Args:
      start: float Tensor [].
      stop: Tensor [] of the type of `start`.
      num: int Tensor [], the number of elements.
      name: the op's name.

    Returns:
      A Tensor [num] of that type.

    Raises:
      ValueError: `num` is not positive.

    Example:
      >>> tf.Session().run(tf.linspace(0.0, 1.0, 5))
      array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)

    Source: LinSpace in core/ops/math_ops.cc.
    """
    return LinSpace()(start, stop, num, name=name)
