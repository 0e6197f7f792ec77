"""Parts of an array by position: slice, strided slice, and `tensor[...]`.

Source: core/util/strided_slice_op.cc, python/ops/array_ops.py.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.constant_values import constant_value
from tfteach.framework.dimension import Dimension
from tfteach.framework.dtypes import as_dtype, int32, int64
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Folding, Int32Kernel
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require, require_vector
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.gather import boolean_mask
from tfteach.ops.core.constant import constant
from tfteach.ops.core.fill import ones_like
from tfteach.ops.core.identity_reshape import INDICES, reshape
from tfteach.ops.core.shape_ops import rank, shape
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.math.cast import Cast

_INDEX_TYPES = (int32, int64)


class Slice(Op):
    """A block of `size` elements from `begin` on, along every axis.

    Source: array_ops.cc.
    """

    signature = "input: T, begin: Index, size: Index -> output: T"
    Index = INDICES
    aliases: ClassVar[bool] = True
    # Passed as an array if its values are known, otherwise as a partly known tuple.
    by_value: ClassVar[tuple[str, ...]] = ("begin", "size")
    by_shape: ClassVar[tuple[str, ...]] = ("size",)
    host_inputs: ClassVar[tuple[str, ...]] = ("begin", "size")
    checks_only_ranks: ClassVar[bool] = True
    int32_on_gpu: ClassVar[Int32Kernel] = "host"
    folds_while_building: ClassVar[Folding] = Folding.SHAPES

    def infer_shape(self, input: Shape, begin: Any, size: Any) -> Shape:
        if begin is not None:
            shapes.with_rank(begin.shape, 1)
        for vector in (begin, size):
            if vector is not None:
                input = shapes.with_rank(input, len(vector))
        if input is None or size is None:
            return None if input is None else (None,) * len(input)
        wanted: list[int | None] = []
        for i, length in enumerate(size):
            if length == -1:
                whole = input[i] if begin is not None else None
                left = None if whole is None else whole - int(begin[i])
                if left is not None and left < 0:
                    raise ValueError(
                        "Negative dimension size caused by subtracting "
                        f"{int(begin[i])} from {whole}"
                    )
                wanted.append(left)
            else:
                wanted.append(None if length is None else int(length))
        return tuple(wanted)

    def constant_part(self, values: list[Any], shape: Any) -> Any:
        _, begin, size = values
        if begin is None or size is None:
            return None
        return tuple(
            builtins.slice(start, None if length == -1 else start + length)
            for start, length in zip(begin.tolist(), size.tolist(), strict=True)
        )

    def check_shapes(
        self, input: tuple[int, ...], begin: tuple[int, ...], size: tuple[int, ...]
    ) -> None:
        rank = len(input)
        require(
            begin == size == (rank,),
            "Expected begin and size arguments to be 1-D tensors of size %s, but got "
            "shapes %s and %s instead.",
            rank,
            begin,
            size,
        )

    def compute(self, xp: ArrayModule, input: Array, begin: Array, size: Any) -> Any:
        return input[self.index(input.shape, begin, size)]

    def prepared(self, xp: ArrayModule, values: list[Any]) -> Any:
        return _indexed(self.index, values[1:])

    def index(self, shape: tuple[int, ...], begin: Any, size: Any) -> tuple[Any, ...]:
        """The NumPy index equivalent to the vectors."""
        starts, lengths = begin.tolist(), size.tolist()
        index = []
        for i, (start, length) in enumerate(zip(starts, lengths, strict=True)):
            whole = shape[i]
            if not 0 <= start <= whole:
                raise invalid_argument(
                    f"Expected begin[{i}] in [0, {whole}], but got {start}"
                )
            if length == -1:
                length = whole - start
            elif not 0 <= length <= whole - start:
                raise invalid_argument(
                    f"Expected size[{i}] in [0, {whole - start}], but got {length}"
                )
            index.append(builtins.slice(start, start + length))
        return tuple(index)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        from tfteach.ops.array.padding import Pad

        whole, begin = op.inputs[0], op.inputs[1]
        input_rank = rank(whole)
        part = shape(op.outputs[0])
        column = stack([input_rank, 1])
        before = reshape(begin, column)
        after = reshape(shape(whole) - part - begin, column)
        paddings = concat([before, after], 1)
        return [Pad()(grad, paddings), None, None]


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


# ---- public functions


@export("slice")
def slice(
    input_: TensorLike, begin: TensorLike, size: TensorLike, name: str | None = None
) -> Tensor:
    """A block of a tensor: `size` elements from `begin` on, along every axis.

    Args:
      input_: a Tensor.
      begin: int Tensor [rank], where the block starts.
      size: int Tensor [rank], the block's size; -1 means all remaining elements.
      name: the op's name.

    Returns:
      A Tensor of `input_`'s type and rank.

    Raises:
      InvalidArgumentError: the block exceeds the tensor.

    Source: Slice in core/ops/array_ops.cc.
    """
    return Slice()(input_, begin, size, name=name)


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

        def assign(val: Any, name: str | None = None) -> Any:
            given = f"{result.op.name}_assign" if name is None else name
            return var._strided_slice_assign(
                begin=begin, end=end, strides=strides, value=val, name=given, **masks
            )

        result.assign = assign  # type: ignore[attr-defined]
    return result


def _check_index(index: Any) -> None:
    if isinstance(index, int | Dimension):
        return
    dtype = getattr(index, "dtype", None)
    try:
        is_integer = dtype is not None and as_dtype(dtype).base_dtype in _INDEX_TYPES
    except TypeError:
        is_integer = False
    if not is_integer or (index.shape and len(index.shape) == 1):
        raise TypeError(
            "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and "
            f"scalar tf.int32/tf.int64 tensors are valid indices, got {index!r}"
        )


def _is_given(bound: Any) -> bool:
    return bound is not None and (isinstance(bound, Tensor) or bound != sys.maxsize)


def _is_mask(key: Any) -> bool:
    if isinstance(key, bool):
        return True
    if isinstance(key, Tensor):
        return key.dtype.base_dtype.is_bool
    return isinstance(key, np.ndarray) and key.dtype == np.bool_


def slice_helper(tensor: Any, slice_spec: Any, var: Any = None) -> Tensor:
    """`tensor[slice_spec]`, as a StridedSlice op or a boolean mask."""
    if _is_mask(slice_spec):
        return boolean_mask(tensor, slice_spec)
    if not isinstance(slice_spec, list | tuple):
        slice_spec = [slice_spec]
    begin: list[Any] = []
    end: list[Any] = []
    strides: list[Any] = []
    masks = dict.fromkeys(StridedSlice.fields, 0)
    for i, key in enumerate(slice_spec):
        bit = 1 << i
        first, last, step = 0, 0, 1
        if isinstance(key, builtins.slice):
            for bound in (key.start, key.stop):
                if _is_given(bound):
                    _check_index(bound)
            if _is_given(key.start):
                first = key.start
            else:
                masks["begin_mask"] |= bit
            if _is_given(key.stop):
                last = key.stop
            else:
                masks["end_mask"] |= bit
            if key.step is not None:
                _check_index(key.step)
                step = key.step
        elif key is Ellipsis:
            masks["ellipsis_mask"] |= bit
        elif key is None:
            masks["new_axis_mask"] |= bit
        else:
            _check_index(key)
            first, last = key, key + 1
            masks["shrink_axis_mask"] |= bit
        begin.append(first)
        end.append(last)
        strides.append(step)
    return _packed_slice(tensor, begin, end, strides, masks, var)


def _packed_slice(
    tensor: Any,
    begin: list[Any],
    end: list[Any],
    strides: list[Any],
    masks: dict[str, int],
    var: Any,
) -> Tensor:
    """The slice, with vectors converted to tensors of one type."""
    with name_scope(None, "strided_slice", [tensor, *begin, *end, *strides]) as scope:
        if not begin:
            packed = [constant(np.zeros(0, np.int32))] * 3
        else:
            packed = [stack(begin), stack(end), stack(strides)]
            if any(p.dtype.base_dtype is int64 for p in packed):
                packed = [
                    p if p.dtype.base_dtype is int64 else Cast(DstT=int64)(p)
                    for p in packed
                ]
        first, last, step = packed
        options: dict[str, Any] = {**masks, "var": var, "name": scope}
        return strided_slice(tensor, first, last, step, **options)


Tensor.overload("__getitem__", slice_helper)
