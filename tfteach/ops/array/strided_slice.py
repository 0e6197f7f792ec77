"""Strided slices.  Source: core/ops/array_ops.cc, python/ops/array_ops.py."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.constant_values import constant_value
from tfteach.framework.dtypes import int32, int64
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Folding, Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require, require_vector
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.core.fill import ones_like
from tfteach.ops.core.identity_reshape import INDICES
from tfteach.ops.core.shape_ops import shape

_INDEX_TYPES = (int32, int64)


def _indexed(index_of: Callable[..., Any], vectors: list[Any]) -> Any:
    """A kernel that recomputes the index only when the input's shape changes."""
    if any(vector is None for vector in vectors):
        return None
    known: tuple[Any, Any] = None, None

    def kernel(input: Any, *_: Any) -> Any:
        nonlocal known
        shape, index = known
        if input.shape != shape:
            shape, index = known = input.shape, index_of(input.shape, *vectors)
        return input[index]

    return kernel


def _index(
    shape: tuple[int, ...], spec: Any, begin: Any, end: Any, strides: Any
) -> tuple[Any, ...]:
    """The NumPy index equivalent to a strided slice's vectors and masks."""
    if max(begin.size, end.size, strides.size) > _MASKED:
        begin, end, strides = _shortened(shape, begin, end, strides)
    begins, ends, steps = begin.tolist(), end.tolist(), strides.tolist()
    new_axes, shrinks, ellipsis = (
        spec.new_axis_mask,
        spec.shrink_axis_mask,
        spec.ellipsis_mask,
    )
    if ellipsis & (ellipsis - 1):
        raise ValueError("Multiple ellipses in slice spec not allowed")
    index: list[Any] = []
    axis = 0
    for i, step in enumerate(steps):
        bit = 1 << i
        if ellipsis & bit:
            index.append(Ellipsis)
            later = sum(1 for j in range(i + 1, len(steps)) if not new_axes >> j & 1)
            axis = max(axis, len(shape) - later)
        elif new_axes & bit:
            index.append(None)
        else:
            if axis >= len(shape):
                raise ValueError(
                    f"Index out of range using input dim {axis}; input has only "
                    f"{len(shape)} dims"
                )
            if step == 0:
                raise ValueError(f"strides[{axis}] must be non-zero")
            if shrinks & bit:
                index.append(_position(shape[axis], begins[i], step, axis))
            else:
                index.append(
                    builtins.slice(
                        None if spec.begin_mask & bit else begins[i],
                        None if spec.end_mask & bit else ends[i],
                        step,
                    )
                )
            axis += 1
    return tuple(index)


def _position(size: int, begin: int, step: int, axis: int) -> int:
    if step < 0:
        raise ValueError("only stride 1 allowed on non-range indexing.")
    position = begin + size if begin < 0 else begin
    if not 0 <= position < size:
        raise ValueError(f"slice index {position} of dimension {axis} out of bounds.")
    return position


class _Strided(Op, abstract=True):
    """The masks of a strided slice, shared by the op and its gradient."""

    begin_mask: int = 0
    end_mask: int = 0
    ellipsis_mask: int = 0
    new_axis_mask: int = 0
    shrink_axis_mask: int = 0

    @property
    def masks(self) -> dict[str, int]:
        """The attributes by name."""
        return dict(zip(type(self).fields, self.attributes, strict=True))

    def index(
        self, shape: tuple[int, ...], begin: Any, end: Any, strides: Any
    ) -> tuple[Any, ...]:
        """The NumPy index into an array of this shape."""
        if begin.size > _MASKED:
            begin, end, strides = _shortened(shape, begin, end, strides)
        try:
            return _remembered_index(
                self, shape, begin.dtype.char,
                begin.tobytes(), end.tobytes(), strides.tobytes(),
            )  # fmt: skip
        except ValueError as error:
            raise invalid_argument(str(error)) from None


_MASKED = 32  # the masks have a bit for this many entries of the vectors


def _shortened(shape: tuple[int, ...], *vectors: Any) -> Iterator[Any]:
    """The vectors up to the first entry that is certainly out of range."""
    return (vector[: len(shape) + _MASKED + 1] for vector in vectors)


@lru_cache(maxsize=1024)
def _remembered_index(
    spec: Any, shape: tuple[int, ...], dtype: str, *vectors: bytes
) -> tuple[Any, ...]:
    # Most slices are small and the same in every run: caching costs a third.
    return _index(shape, spec, *(np.frombuffer(v, dtype) for v in vectors))


def _check_bounds(begin: Any, end: Any, strides: Any) -> None:
    message = "Expected begin, end, and strides to be 1D equal size tensors, but got "
    message += "shapes %s, %s, and %s instead."
    is_fit = len(begin) == 1 and begin == end == strides and begin[0] < _MASKED
    require(is_fit, message, begin, end, strides)


class StridedSlice(_Strided):
    """`input[begin:end:strides]`, with NumPy's extras as bit masks.

    Bit i of a mask applies to entry i of the vectors: `begin_mask` and `end_mask`
    ignore that bound, `ellipsis_mask` means `...`, `new_axis_mask` means `newaxis`, and
    `shrink_axis_mask` means an index instead of a range.
    Source: core/ops/array_ops.cc, StridedSlice.
    """

    signature = "input: T, begin: Index, end: Index, strides: Index -> output: T"
    Index = INDICES
    aliases: ClassVar[bool] = True
    by_value: ClassVar[tuple[str, ...]] = ("begin", "end", "strides")
    host_inputs: ClassVar[tuple[str, ...]] = ("begin", "end", "strides")
    int32_on_gpu: ClassVar[Int32Kernel] = "host"
    folds_while_building: ClassVar[Folding] = Folding.SHAPES

    def shape_sources(self, op: Operation) -> Sequence[Tensor] | None:
        return None if self._plain_slice(op) is None else op.inputs[:1]

    def joined_shape(self, op: Operation, parts: list[Shape]) -> Any:
        cut, whole = self._plain_slice(op), parts[0]
        return NotImplemented if cut is None or whole is None else whole[cut]

    def _plain_slice(self, op: Operation) -> builtins.slice | None:
        """The Python slice that the op applies to a vector, if it is known."""
        if self.ellipsis_mask or self.new_axis_mask or self.shrink_axis_mask:
            return None
        begin, end, strides = (constant_value(t) for t in op.inputs[1:])
        if begin is None or end is None or strides is None:
            return None
        start = None if self.begin_mask & 1 else int(begin[0])
        stop = None if self.end_mask & 1 else int(end[0])
        return builtins.slice(start, stop, int(strides[0]))

    def infer_shape(self, input: Shape, begin: Any, end: Any, strides: Any) -> Shape:
        for vector in (begin, end, strides):
            if vector is not None:
                shapes.with_rank(vector.shape, 1)
        if input is None or strides is None:
            return None
        # The spec, with placeholders where a vector is unknown; 0 is always in range.
        is_known = begin is not None and end is not None
        zeros = np.broadcast_to(strides.dtype.type(0), strides.shape)
        stand_in = tuple((1 << 62) if n is None else n for n in input)
        index = _index(
            stand_in if is_known else tuple(n or 1 for n in stand_in),
            self,
            begin if is_known else zeros,
            end if is_known else zeros,
            strides,
        )
        result: list[int | None] = []
        axis = 0
        for i, part in enumerate(index):
            if part is None:
                result.append(1)
            elif part is Ellipsis:
                later = sum(1 for p in index[i + 1 :] if p is not None)
                stop = max(axis, len(input) - later)
                result += input[axis:stop]
                axis = stop
            else:
                if isinstance(part, builtins.slice):
                    bit = self.begin_mask & self.end_mask & (1 << i)
                    result.append(_length(input[axis], part, is_known or bool(bit)))
                axis += 1
        return (*result, *input[axis:])

    def check_shapes(
        self, begin: tuple[int, ...], end: tuple[int, ...], strides: tuple[int, ...]
    ) -> None:
        _check_bounds(begin, end, strides)

    def compute(
        self, xp: ArrayModule, input: Array, begin: Array, end: Array, strides: Array
    ) -> Any:
        return input[self.index(input.shape, begin, end, strides)]

    def prepared(self, xp: ArrayModule, values: list[Any]) -> Any:
        return _indexed(self.index, values[1:])

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        _, begin, end, strides = op.inputs
        whole = shape(op.inputs[0], out_type=begin.dtype.base_dtype)
        spread = StridedSliceGrad(**self.masks)
        return [spread(whole, begin, end, strides, grad), None, None, None]


def _length(size: int | None, part: Any, is_known: bool) -> int | None:
    if size is None or not is_known:
        return None
    return len(range(*part.indices(size)))


class StridedSliceGrad(_Strided):
    """Zeros in the given shape, with `dy` at the position of the slice.

    Source: core/ops/array_ops.cc, StridedSliceGrad.
    """

    signature = (
        "shape: Index, begin: Index, end: Index, strides: Index, dy: T -> output: T"
    )
    Index = INDICES
    by_shape: ClassVar[tuple[str, ...]] = ("shape",)
    host_inputs: ClassVar[tuple[str, ...]] = ("shape", "begin", "end", "strides")
    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def infer_shape(self, shape: Shape, *_: Any) -> Shape:
        return shape

    def check_shapes(
        self,
        shape: tuple[int, ...],
        begin: tuple[int, ...],
        end: tuple[int, ...],
        strides: tuple[int, ...],
    ) -> None:
        require_vector(shape, "shape must be 1-D, got shape.shape = %s")
        _check_bounds(begin, end, strides)

    def compute(
        self,
        xp: ArrayModule,
        shape: Any,
        begin: Array,
        end: Array,
        strides: Array,
        dy: Array,
    ) -> Any:
        whole = xp.zeros(shape.tolist(), dy.dtype)
        index = self.index(whole.shape, begin, end, strides)
        expected = whole[index].shape
        if expected != dy.shape:
            raise invalid_argument(
                f"shape of dy was {list(dy.shape)} instead of {list(expected)}"
            )
        whole[index] = dy
        return whole

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        _, begin, end, strides, _ = op.inputs
        part = StridedSlice(**self.masks)(grad, begin, end, strides)
        return [None, None, None, None, part]


@export("strided_slice")
def strided_slice(
    input_: TensorLike,
    begin: TensorLike,
    end: TensorLike,
    strides: TensorLike | None = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: str | None = None,
) -> Tensor:
    """`input_[begin:end:strides]`; `tensor[...]` is the convenient form.

    Args:
      input_: a Tensor.
      begin, end, strides: int Tensors [n]; strides are 1 if None.
      begin_mask, end_mask: bit i: ignore that bound of axis i.
      ellipsis_mask: bit i: entry i is `...`.
      new_axis_mask: bit i: entry i is a new axis of size 1.
      shrink_axis_mask: bit i: entry i is an index, and its axis is removed.
      var: the variable that `input_` was read from, for `.assign` on the result.
      name: the op's name.

    Returns:
      A Tensor of `input_`'s type.

    Raises:
      ValueError: an index is out of range, or there are too many indices.

    Source: StridedSlice in core/ops/array_ops.cc.
    """
    if strides is None:
        strides = ones_like(begin)
    masks = {
        "begin_mask": begin_mask,
        "end_mask": end_mask,
        "ellipsis_mask": ellipsis_mask,
        "new_axis_mask": new_axis_mask,
        "shrink_axis_mask": shrink_axis_mask,
    }
    result: Tensor = StridedSlice(**masks)(input_, begin, end, strides, name=name)
    if var is not None:
        own_name = result.op.name if name is None else name

        def assign(val: Any, name: str | None = None) -> Any:
            given = f"{own_name}_assign" if name is None else name
            return var._strided_slice_assign(
                begin=begin, end=end, strides=strides, value=val, name=given, **masks
            )

        result.assign = assign  # type: ignore[attr-defined]
    return result
