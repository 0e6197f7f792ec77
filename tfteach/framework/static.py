"""What is known of values before any run: constants and partly known shape vectors.

`tf.reshape(x, tf.stack([tf.shape(x)[0], 10]))` has the static shape (?, 10) because
these functions look through the ops that compute shapes.
Source: python/framework/tensor_util.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfteach.framework.attr_value import MAX_RANK
from tfteach.framework.dtypes import DType, float32
from tfteach.framework.errors import OpError
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape, is_full, sizes_of

# Ops through which a constant is computed while the graph is built: TF's choice in
# Python, and those that its C++ shape functions also see through and gradients use.
_IN_PYTHON = frozenset("Cast Concat ConcatV2 Pack Fill Equal NotEqual Range".split())
_FOLDED = _IN_PYTHON.union(
    "Sub Add AddV2 Mul StridedSlice Squeeze ExpandDims Identity Prod Maximum Minimum "
    "Neg FloorMod GatherV2 InvertPermutation Reshape Slice".split()
)
_FOLDED_SIZES = _FOLDED.union(("FloorDiv",))
_MAX_FOLDED_SIZE = 1 << 16


def constant_value(tensor: Tensor, through: frozenset[str] = _FOLDED) -> Any:
    """The tensor's value as an array, if the graph alone determines it; else None.

    Args:
      tensor: a Tensor.
      through: the types of ops that are looked through.
    """
    op = tensor.op
    kind = op.type
    if kind == "Const":
        return op.spec.value  # type: ignore[attr-defined]
    if kind == "Shape" and is_full(op.inputs[0]._shape):
        return np.array(op.inputs[0]._shape, tensor.dtype.numpy_dtype)
    if kind == "Size" and is_full(op.inputs[0]._shape):
        return np.array(np.prod(op.inputs[0]._shape), tensor.dtype.numpy_dtype)  # type: ignore[arg-type]
    if kind == "Rank" and op.inputs[0]._shape is not None:
        return np.array(len(op.inputs[0]._shape), np.int32)
    if kind not in through:
        return None
    values = []
    for source in op.inputs:
        value = constant_value(source, through)
        if value is None:
            return None
        values.append(value)
    size = 1 if not is_full(tensor._shape) else np.prod(tensor._shape)  # type: ignore[arg-type]
    if size > _MAX_FOLDED_SIZE:
        return None
    return op.spec.compute(np, *values)


def python_constant_value(tensor: Tensor) -> Any:
    """`constant_value` as TensorFlow's Python has it, for what its graphs record."""
    return constant_value(tensor, _IN_PYTHON)


def folded_value(tensor: Tensor) -> Any:
    """As `constant_value`, but through any op: what shape rules may know.

    TF has the same two degrees: its Python looks through few ops (so that what
    programs see does not change), its shape inference computes whatever is constant.
    """
    if tensor.op.type in ("Shape", "ShapeN"):  # TF computes only what is behind these
        shape = tensor.op.inputs[tensor.value_index]._shape
        return np.array(shape, tensor.dtype.numpy_dtype) if is_full(shape) else None
    return _folded(tensor)


def _folded(tensor: Tensor) -> Any:
    value = constant_value(tensor)
    if value is not None:
        return np.asarray(value)
    op = tensor.op
    if _varies(op):
        return None
    if op.type == "ShapeN" and is_full(op.inputs[tensor.value_index]._shape):
        return folded_value(tensor)
    values = []
    for source in op.inputs:
        value = _folded(source)
        if value is None or value.size > _MAX_FOLDED_SIZE:
            return None
        values.append(value)
    try:
        with np.errstate(all="ignore"):
            result = op.spec.compute(np, *values)
    except (OpError, NotImplementedError, ValueError):
        return None  # the run will say what is wrong
    outputs = result if isinstance(result, tuple | list) else (result,)
    return np.asarray(outputs[tensor.value_index])


_OF_SHAPES = frozenset(("Shape", "ShapeN", "Size", "Rank"))


def _varies(op: Operation) -> bool:
    """Whether some ancestor's value is not known before a run.

    Remembered on the ops, or every shape would cost a walk to the graph's far end; not
    where it hangs on a static shape, which may become known later.
    """
    found: dict[Operation, bool] = {}
    is_final: set[Operation] = set()
    stack = [op]
    while stack:
        top = stack[-1]
        if top in found:
            stack.pop()
            continue
        spec = top.spec
        if top.type == "Const":
            found[top] = False
        elif getattr(top, "varies", False) or (
            not top.inputs or spec.is_stateful or not spec.is_foldable
            or top.control_inputs
        ):  # fmt: skip
            found[top] = True
            is_final.add(top)
        elif top.type in _OF_SHAPES and all(is_full(t._shape) for t in top.inputs):
            found[top] = False
        else:
            sources = [t.op for t in top.inputs]
            unknown = next((o for o in sources if o not in found), None)
            varying = [o for o in sources if found.get(o)]
            if varying or unknown is None:
                found[top] = bool(varying)
                final = not is_final.isdisjoint(varying)
                if final and top.type not in _OF_SHAPES:
                    is_final.add(top)
                    top.varies = True  # type: ignore[attr-defined]
            else:
                stack.append(unknown)
    return found[op]


ShapeRule = Callable[[Any], Shape]


def constant_shape(tensor: Tensor, fold: bool = True) -> Shape:
    """The shape that a vector of sizes stands for, as far as it is known.

    Args:
      tensor: an int Tensor [rank] (or a scalar -1 for an unknown shape).
      fold: whether to look through any op, as TF's shape functions do, or through few,
        as its Python does.

    Returns:
      A tuple with None for unknown sizes, or None for an unknown rank.
    """
    if tensor._shape == ():
        value = constant_value(tensor)
        if value is None or int(value) == -1:
            return None
        raise ValueError(f"A scalar shape must be -1 (unknown), got {int(value)}")
    op = tensor.op
    if op.type == "ShapeN":
        return op.inputs[tensor.value_index]._shape
    rule = _SHAPE_RULES.get(op.type)
    if rule is not None:
        found = rule(op)
        if found is not NotImplemented:
            return found  # type: ignore[no-any-return]
    value = folded_value(tensor) if fold else constant_value(tensor)
    if value is not None:
        check_rank(value)
        sizes = value.reshape(-1).tolist()
        check_sizes(sizes)
        return sizes_of(sizes)
    length = None if tensor._shape is None else tensor._shape[0]
    return None if length is None else (None,) * length


def check_rank(sizes: np.ndarray[Any, Any]) -> None:
    """Raises: ValueError: there are more sizes than a shape can have."""
    if sizes.size > MAX_RANK:
        raise ValueError(f"Shape of {sizes.size} sizes has too many dimensions")


def check_sizes(sizes: list[int]) -> None:
    """Raises: ValueError: there is a size below -1, which stands for an unknown one."""
    if sizes and min(sizes) < -1:
        raise ValueError(f"Invalid value in tensor used for shape: {min(sizes)}")


def _size(tensor: Tensor) -> int | None:
    """One size from a scalar tensor, None if unknown."""
    value = constant_value(tensor, _FOLDED_SIZES)
    return None if value is None or int(value) < 0 else int(value)


def _pack(op: Any) -> Shape:
    return tuple(_size(t) for t in op.inputs)


def _concat(op: Any) -> Shape:
    whole: tuple[int | None, ...] = ()
    for part in op.inputs[:-1]:
        sizes = constant_shape(part)
        if sizes is None:
            return None
        whole += sizes
    return whole


def _slice(op: Any) -> Any:
    begin, end, strides = (constant_value(t) for t in op.inputs[1:])
    spec = op.spec
    if begin is None or end is None or strides is None:
        return NotImplemented
    if spec.ellipsis_mask or spec.new_axis_mask or spec.shrink_axis_mask:
        return NotImplemented
    whole = constant_shape(op.inputs[0])
    if whole is None:
        return NotImplemented
    start = None if spec.begin_mask & 1 else int(begin[0])
    stop = None if spec.end_mask & 1 else int(end[0])
    return whole[start : stop : int(strides[0])]


_SHAPE_RULES: dict[str, Callable[[Any], Any]] = {
    "Shape": lambda op: op.inputs[0]._shape,
    "Pack": _pack,
    "ConcatV2": _concat,
    "StridedSlice": _slice,
    "Cast": lambda op: constant_shape(op.inputs[0]),
    "Identity": lambda op: constant_shape(op.inputs[0]),
}


_HANDLE_PASSES = frozenset(("Identity", "Switch", "Enter", "TensorArrayGradV3"))


def _source_of(handle: Tensor) -> Operation:
    """The op that made a resource handle."""
    op = handle.op
    while op.type in _HANDLE_PASSES:
        op = op.inputs[0].op
    return op


def handle_dtype(handle: Tensor) -> DType:
    """The type of what is behind a resource handle; float32 if that is unknown."""
    dtype: DType = getattr(_source_of(handle).spec, "dtype", float32)
    return dtype


def handle_shape(handle: Tensor) -> Shape:
    """The declared shape of the variable, or of the elements of the TensorArray, that
    a resource handle stands for."""
    op = _source_of(handle)
    spec: Any = op.spec
    if op.type == "VarHandleOp":
        return spec.shape  # type: ignore[no-any-return]
    if op.type == "TensorArrayV3":
        shape: Shape = spec.element_shape
        return shape if spec.identical_element_shapes or is_full(shape) else None
    return None
