"""Checks of shapes that several tensors share: `tf.debugging.assert_shapes`.

Source: python/ops/check_ops.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tfteach.control.branch import cond
from tfteach.control.case import Assert
from tfteach.control.checks.failures import label
from tfteach.control.checks.ranks import (
    assert_rank,
    assert_rank_at_least,
    assert_rank_in,
)
from tfteach.control.checks.values import Data
from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import control_dependencies, name_scope
from tfteach.ops.core import shape_ops
from tfteach.ops.core.constant import constant
from tfteach.ops.core.control_flow_ops import group
from tfteach.ops.math.compare import Equal, equal


class _Sizes(NamedTuple):
    """What is required of one tensor.

    Attributes:
      tensor: the tensor.
      actual: its sizes: ints, and Tensors for those that are not known.
      wanted: the sizes that are required: numbers, symbols, None.
      only_inner: whether `wanted` are those of the last axes only.
    """

    tensor: Tensor
    actual: Any
    wanted: tuple[Any, ...]
    only_inner: bool

    def axis(self, position: int) -> int:
        """The axis that an entry of `wanted` belongs to."""
        return position - len(self.wanted) if self.only_inner else position


@export("debugging.assert_shapes")
def assert_shapes(
    shapes: Mapping[Any, Any] | Sequence[tuple[Any, Any]],
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Check that tensors have certain sizes, and the same where they must agree.

    Args:
      shapes: pairs of a Tensor and its shape, an iterable, or a dict of them.  Each
        size is a number, a symbol such as "N", which has one size wherever it occurs,
        or None or "." for any size.  A first entry `...` or "*" stands for any number
        of sizes.  A scalar counts as a vector of one element.
      data: the values to print on failure; what was expected if None.
      summarize: the number of elements of each tensor to print (3; -1 for all).
      message: a prefix of the error message.
      name: the name scope of the new operations.

    Returns:
      An Operation that fails a run with InvalidArgumentError for the sizes that are
      not known before; it runs only as a control dependency.  None in an eager program.

    Raises:
      ValueError: immediately, if known sizes differ, or a shape is no iterable.

    Example:
      >>> x, y = tf.zeros([2, 3]), tf.zeros([3])
      >>> check = tf.debugging.assert_shapes([(x, ("N", "D")), (y, ("D",))])

    Source: python/ops/check_ops.py, assert_shapes.
    """
    message = message or ""
    pairs = shapes.items() if isinstance(shapes, Mapping) else shapes
    with name_scope(name, "assert_shapes", [shapes, data]):
        tensors = [(convert(x), shape) for x, shape in pairs if shape is not None]
        wanted = [_sizes_of(tensor, shape, message) for tensor, shape in tensors]
        options = {"data": data, "summarize": summarize, "message": message}
        ranks = [_check_rank(sizes, {**options, "name": name}) for sizes in wanted]
        checks = _check_sizes(wanted, data, summarize, message)
        with control_dependencies([rank for rank in ranks if rank is not None]):
            return group(checks)


def _sizes_of(tensor: Tensor, shape: Any, message: str) -> _Sizes:
    if not hasattr(shape, "__iter__"):
        raise ValueError(
            f"{message}.  Tensor {label(tensor)}.  Specified shape must be an "
            "iterable.  An iterable has the attribute `__iter__` or `__getitem__`.  "
            f"Received specified shape: {shape}"
        )
    wanted = tuple(shape)
    for i, size in enumerate(wanted):
        if i and _is_open(size):
            raise ValueError(
                f"{message}.  Tensor {label(tensor)} specified shape index {i}.  "
                "Symbol `...` or `*` for a variable number of unspecified dimensions "
                "is only allowed as the first entry"
            )
    only_inner = bool(wanted) and _is_open(wanted[0])
    wanted = wanted[1:] if only_inner else wanted
    return _Sizes(tensor, _actual_sizes(tensor), wanted or (1,), only_inner)


def _is_open(size: Any) -> bool:
    return size is Ellipsis or (isinstance(size, str) and size == "*")


def _actual_sizes(tensor: Tensor) -> Any:
    sizes = shape_ops.shape(tensor)
    known = tensor._shape
    if known is None:
        is_scalar = equal(shape_ops.rank(tensor), 0)
        return cond(is_scalar, lambda: constant([1]), lambda: sizes)
    return [sizes[i] if n is None else n for i, n in enumerate(known)] or [1]


def _check_rank(sizes: _Sizes, options: dict[str, Any]) -> Operation | None:
    rank = len(sizes.wanted)
    if rank > 1:
        check = assert_rank_at_least if sizes.only_inner else assert_rank
        return check(sizes.tensor, rank, **options)
    if sizes.only_inner:
        return None  # a scalar will do, too
    return assert_rank_in(sizes.tensor, [0, 1], **options)


def _check_sizes(
    wanted: list[_Sizes], data: Data, summarize: int | None, message: str
) -> list[Operation]:
    """Compare sizes that are known; the Asserts for the others."""
    seen: dict[Any, tuple[Any, Tensor, int]] = {}  # by symbol, where it occurred first
    checks = []
    for sizes in wanted:
        for position, symbol in enumerate(sizes.wanted):
            if symbol is None or symbol == ".":
                continue
            axis = sizes.axis(position)
            actual, number = sizes.actual[axis], _known(symbol)
            if number is None and symbol not in seen:
                seen[symbol] = actual, sizes.tensor, axis
                continue
            expected: Any = number
            why = "Specified explicitly"
            if number is None:
                expected, other, at = seen[symbol]
                why = f"Specified by tensor {label(other)} dimension {at}"
            shown = label(sizes.tensor)
            if _known(actual) is None or _known(expected) is None:
                condition = Equal()(convert(actual), convert(expected))
                parts = data or [
                    message, why, f"Tensor {shown} dimension", axis,
                    "must have size", expected, "Received shape: ",
                    shape_ops.shape(sizes.tensor),
                ]  # fmt: skip
                checks.append(Assert(condition, parts, summarize=summarize))
            elif _known(actual) != _known(expected):
                raise ValueError(
                    f"{message}.  {why}.  Tensor {shown} dimension {axis} must have "
                    f"size {expected}.  Received size {actual}, shape "
                    f"{sizes.tensor.shape}"
                )
    return checks


def _known(size: Any) -> int | None:
    """The number that a size is, or that its text says."""
    try:
        return int(size)
    except (ValueError, TypeError):
        return None
