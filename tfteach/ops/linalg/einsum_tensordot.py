"""Sums of products over named or numbered axes: tensordot and einsum.

Both are composed of transposes, reshapes and one matrix product, with TF's nodes.
Source: python/ops/math_ops.py (tensordot), python/ops/special_math_ops.py (einsum).
"""

from __future__ import annotations

import math
import re
import string
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int32
from tfteach.framework.export import export
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import is_full
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.gather import gather
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.array.unique import setdiff1d
from tfteach.ops.array.where_select import where
from tfteach.ops.core import shape_ops
from tfteach.ops.core.identity_reshape import expand_dims, reshape
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.linalg.matmul import matmul, trace
from tfteach.ops.math.multiply import multiply
from tfteach.ops.math.range import range as range_of
from tfteach.ops.math.reduce_functions import reduce_prod, reduce_sum


@export("tensordot", "linalg.tensordot")
def tensordot(
    a: TensorLike, b: TensorLike, axes: TensorLike, name: str | None = None
) -> Tensor:
    """Sum of products over axes of two tensors.

    c[i..., j...] = Σₖ a[i..., k...] * b[k..., j...]

    Args:
      a, b: number Tensors of one type.
      axes: an int n, for the last n axes of `a` and the first n of `b`; or a pair of
        lists, the axes of `a` and the matching axes of `b` to sum over.
      name: the op's name.

    Returns:
      A Tensor with the remaining axes of `a`, then those of `b`.

    Raises:
      ValueError: `axes` is negative, too large, or not a pair of equally long lists.
      IndexError: a listed axis is out of range.

    Example:
      >>> tf.Session().run(tf.tensordot([1.0, 2.0], [3.0, 4.0], 1))
      array(11., dtype=float32)

    Source: python/ops/math_ops.py.
    """
    with name_scope(name, "Tensordot", [a, b, axes]) as scope:
        a, b = convert(a, name="a"), convert(b, name="b")
        a_axes, b_axes = _pair_of_axes(a, axes)
        left, a_free, a_static = _as_matrix(a, a_axes, False)
        right, b_free, b_static = _as_matrix(b, b_axes, True)
        result = matmul(left, right)
        if isinstance(a_free, list) and isinstance(b_free, list):
            return reshape(result, a_free + b_free, name=scope)
        a_free, b_free = convert(a_free, int32), convert(b_free, int32)
        shape = concat([a_free, b_free], 0)
        result = reshape(result, shape, name=scope)
        if a_static is not None and b_static is not None:
            result.set_shape(a_static + b_static)
        return result


def _pair_of_axes(a: Tensor, axes: Any) -> tuple[Any, Any]:
    if isinstance(axes, int):
        if axes < 0:
            raise ValueError("'axes' must be at least 0.")
        if a._shape is None:
            unknown = shape_ops.rank(a)
            start = range_of(unknown - axes, unknown, dtype=int32)
            return start, range_of(axes, dtype=int32)
        rank = len(a._shape)
        if axes > rank:
            raise ValueError(
                "'axes' must not be larger than the number of dimensions of tensor "
                f"{a!s}."
            )
        return list(range(rank - axes, rank)), list(range(axes))
    if not isinstance(axes, list | tuple):
        axes = convert(axes, int32, name="axes")
        return axes[0], axes[1]
    if len(axes) != 2:
        raise ValueError("'axes' must be an integer or have length 2.")
    first, second = axes
    if isinstance(first, int) and isinstance(second, int):
        first, second = [first], [second]
    if len(first) != len(second):
        raise ValueError(
            f"Different number of contraction axes 'a' and 'b', {len(first)} != "
            f"{len(second)}."
        )
    return first, second


def _places(axes: Any, rank: int) -> list[int]:
    """The axes as non-negative indices."""
    for i in axes:
        if not -rank <= i < rank:
            # The message starts as Python's for a list, as in TensorFlow.
            raise IndexError(
                f"list index out of range: axis {i} of a tensor of rank {rank}"
            )
    return [i % rank for i in axes]


def _as_matrix(a: Tensor, axes: Any, flipped: bool) -> tuple[Tensor, Any, Any]:
    """`a` as a matrix [free, summed]; [summed, free] if flipped.

    Returns:
      The matrix, the free sizes (a list, or a Tensor), and their static shape.
    """
    listed = isinstance(axes, list | tuple)
    if is_full(a._shape) and listed:
        sizes: Any = a._shape
        axes = _places(axes, len(sizes))
        others = [i for i in range(len(sizes)) if i not in axes]
        free_sizes = [sizes[i] for i in others]
        counts = [math.prod(free_sizes), math.prod(sizes[i] for i in axes)]
        perm = axes + others if flipped else others + axes
        shape = counts[::-1] if flipped else counts
        return reshape(transpose(a, perm), shape), free_sizes, free_sizes
    free: Any
    rank: Any
    static = None
    if a._shape is not None and listed:
        rank = len(a._shape)
        axes = _places(axes, rank)
        free = [i for i in range(rank) if i not in axes]
        static = [a._shape[i] for i in free]
        axes = convert(axes, int32, "axes")
        free = convert(free, int32, "free")
        shape_a = shape_ops.shape(a)
    else:
        shape_a, rank = shape_ops.shape(a), shape_ops.rank(a)
        axes = convert(axes, int32, name="axes")
        axes = where(axes >= 0, axes, axes + rank)
        free, _ = setdiff1d(range_of(rank), axes)
    unsummed, axes_sizes = gather(shape_a, free), gather(shape_a, axes)
    count, summed = reduce_prod(unsummed), reduce_prod(axes_sizes)
    order = concat([axes, free] if flipped else [free, axes], 0)
    matrix = stack([summed, count] if flipped else [count, summed])
    return reshape(transpose(a, order), matrix), unsummed, static


@export("einsum", "linalg.einsum")
def einsum(equation: str, *inputs: Tensor, **kwargs: Any) -> Tensor:
    """Sum of products over axes named by letters.

    "ij,jk->ik": c[i, k] = Σⱼ a[i, j] * b[j, k]

    Args:
      equation: the axes of each input, separated by commas, then those of the output;
        without "->" the output has the letters that occur once, in alphabetical order.
      *inputs: number Tensors of one type and known rank.
      name: (by keyword) the name of the scope of its ops.

    Returns:
      A Tensor with the output's axes.

    Raises:
      ValueError: the equation is malformed, or an input has a letter twice.

    Example:
      >>> a, b = tf.constant([[1.0, 2.0]]), tf.constant([[3.0], [4.0]])
      >>> tf.Session().run(tf.einsum("ij,jk->ik", a, b))
      array([[11.]], dtype=float32)

    Source: python/ops/special_math_ops.py.
    """
    name = kwargs.pop("name", None)
    if kwargs:
        raise TypeError(
            f"invalid keyword arguments for this function: {', '.join(sorted(kwargs))}"
        )
    with name_scope(name, "einsum", [equation, *inputs]):
        shapes = [x.get_shape().dims_or_none for x in inputs]
        labels, output = _parsed(equation, shapes)
        letters = set("".join(labels) + output)
        for own in labels:
            doubled = [own.count(axis) for axis in own]
            is_trace = len(labels) == 1 and 2 in doubled and own == own[::-1]
            if is_trace and "->" not in equation:
                return trace(inputs[0])
            if max(doubled, default=0) > 1:
                raise ValueError(
                    f"Subscript not supported: an axis appears more than once: {own}"
                )
        for axis in sorted(letters):
            if sum(axis in own for own in labels) > 2 and axis not in output:
                get_logger().warning(
                    "Falling back to exponential-space implementation of einsum() "
                    'because index "%s" is summed over more than two inputs.',
                    axis,
                )
                return _multiplied(list(inputs), labels, output)
        return _contracted(equation, list(inputs), labels, output)


def _multiplied(inputs: list[Any], labels: list[str], output: str) -> Tensor:
    """All inputs broadcast over all axes, multiplied and summed: TF's fallback."""
    letters = sorted(set("".join(labels) + output))
    order = [axis for axis in letters if axis not in output] + list(output)
    spread = []
    sizes: dict[str, int] = {}
    for position, (tensor, own) in enumerate(zip(inputs, labels, strict=True)):
        known = _static(tensor)
        if known is None or len(known) != len(own):
            rank = None if known is None else len(known)
            raise ValueError(
                f"Input {position} with axes {own} has incorrect number of dimensions "
                f"(expected {len(own)}, got {rank})"
            )
        arranged = sorted(own, key=order.index)
        inputs[position] = _transposed(tensor, [own.find(axis) for axis in arranged])
        shape = {axis: known[own.find(axis)] or -1 for axis in own}
        for axis, size in shape.items():
            if size > 1 and sizes.setdefault(axis, size) != size:
                raise ValueError(f"Dimension mismatch on axis: {axis}")
        spread.append([shape.get(axis, 1) for axis in order])
    wide = [reshape(x, sizes) for x, sizes in zip(inputs, spread, strict=True)]
    product: Any = 1
    for tensor in wide:
        product = product * tensor
    summed = [i for i, axis in enumerate(order) if axis not in output]
    return reduce_sum(product, summed)


def _contracted(
    equation: str, inputs: list[Any], labels: list[str], output: str
) -> Tensor:
    result, axes = inputs[0], labels[0]
    for tensor, own in zip(inputs[1:], labels[1:], strict=True):
        summed = (set(axes) & set(own)) - set(output)
        result, axes = _product(result, axes, tensor, own, summed)
    rest = [i for i, a in enumerate(axes) if a not in output]
    if rest:
        result = reduce_sum(result, axis=rest)
        axes = "".join(a for a in axes if a in output)
    if sorted(axes) != sorted(output):
        raise ValueError(f"Invalid equation: {equation}")
    return _transposed(result, [axes.index(a) for a in output])


def _parsed(equation: str, shapes: list[Any]) -> tuple[list[str], str]:
    """The axes of each input and of the output, with ellipses expanded."""
    equation = equation.replace(" ", "")
    match = re.match(r"^([a-zA-Z,.]+)(->[a-zA-Z.]*)?$", equation)
    if match is None:
        raise ValueError(f"Indices have incorrect format: {equation}")
    labels = match.group(1).split(",")
    output = match.group(2)[2:] if match.group(2) else None
    if len(shapes) != len(labels):
        raise ValueError(
            f'Got {len(shapes)} arguments for equation "{equation}", expecting '
            f"{len(labels)}"
        )
    dots = ""
    if "..." in equation:
        unused = [c for c in string.ascii_letters if c not in "".join(labels)]
        for i, own in enumerate(labels):
            if "..." in own:
                spelled = _ellipsis(own, shapes[i], unused)
                labels[i] = own.replace("...", spelled)
                dots = max(dots, spelled, key=len)
        if output is not None:
            output = output.replace("...", dots)
    if "." in "".join(labels) + (output or ""):
        raise ValueError('period "." found outside of ellipsis')
    if output is None:
        every = "".join(labels)
        once = {a for a in every if every.count(a) == 1} - set(dots)
        output = dots + "".join(sorted(once))
    return labels, output


def _static(x: Any) -> Any:
    """The static shape of a tensor or variable, as a tuple or None."""
    return x.get_shape().dims_or_none


def _ellipsis(own: str, shape: Any, unused: list[str]) -> str:
    parts = own.split("...")
    if len(parts) != 2:
        raise ValueError("Unable to resolve ellipsis. Excess number found.")
    if shape is None:
        raise ValueError("Unable to statically infer ellipsis axes.")
    count = len(shape) - len("".join(parts))
    if count < 0:
        raise ValueError("Ellipses lengths do not match.")
    if len(unused) < count:
        raise ValueError("Unable to resolve ellipsis, too many distinct labels.")
    return "".join(unused[len(unused) - count :])


def _product(
    a: Tensor, a_axes: str, b: Tensor, b_axes: str, summed: set[str]
) -> tuple[Tensor, str]:
    """Multiply two tensors and sum over some axes; returns the remaining axes too."""
    for which, tensor, own in (("t0", a, a_axes), ("t1", b, b_axes)):
        rank = len(tensor.shape)
        if len(own) != rank:
            raise ValueError(
                f"Tensor {which} of rank {rank} does not match einsum reduction of "
                f"length {len(own)}"
            )
    kept = (set(a_axes) & set(b_axes)) - summed
    only_a, only_b = set(a_axes) - kept - summed, set(b_axes) - kept - summed
    # Shared axes first; then a's free and summed axes, and b's summed and free axes.
    a_order = sorted(a_axes, key=lambda x: (-1 if x in kept else x not in only_a, x))
    b_order = sorted(b_axes, key=lambda x: (-1 if x in kept else x not in summed, x))
    a = _transposed(a, [a_axes.find(x) for x in a_order])
    b = _transposed(b, [b_axes.find(x) for x in b_order])
    k = len(kept)
    if not summed:
        for _ in only_b:
            a = expand_dims(a, -1)
        for _ in only_a:
            b = expand_dims(b, k)
        return multiply(a, b), "".join(a_order + b_order[k:])
    s = len(summed)
    a_shape = _sizes(a)
    outer, inner = _total(a_shape[k:-s]), _total(a_shape[-s:])
    a = _reshaped(a, [*a_shape[:k], outer, inner])
    b_shape = _sizes(b)
    count = _total(b_shape[k + s :])
    b = _reshaped(b, [*b_shape[:k], inner, count])
    result = matmul(a, b)
    own_b = len(b_shape) - len(only_b)
    shape = a_shape[: k + len(only_a)] + b_shape[own_b:]
    axes = a_order[: k + len(only_a)] + b_order[own_b:]
    return _reshaped(result, shape), "".join(axes)


def _transposed(tensor: Tensor, perm: list[int]) -> Tensor:
    if perm == list(range(len(perm))):
        return tensor
    return transpose(tensor, perm=perm)


def _reshaped(tensor: Tensor, shape: list[Any]) -> Tensor:
    now = _static(tensor)
    if (
        now is not None
        and len(now) == len(shape)
        and all(
            not isinstance(n, Tensor) and m == n
            for m, n in zip(now, shape, strict=True)
        )
    ):
        return tensor
    return reshape(tensor, tuple(shape))


def _sizes(tensor: Tensor) -> list[Any]:
    """The sizes: ints where known statically, otherwise scalar tensors."""
    sizes: list[Any] = list(_static(tensor) or ())
    if None in sizes:
        dynamic = shape_ops.shape(tensor)
        sizes = [dynamic[i] if n is None else n for i, n in enumerate(sizes)]
    return sizes


def _total(sizes: list[Any]) -> Any:
    result: Any = 1
    for size in sizes:
        result = result * size
    return result
