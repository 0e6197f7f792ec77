"""Jacobians of what a tape has recorded: a gradient for each element of the target.

The loop over the elements is registered by `control/for_loop.py`, as this package
builds none.
Source: python/eager/backprop.py, python/ops/parallel_for/control_flow_ops.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from tfteach.autodiff.seed_gradients import Gradient
from tfteach.framework.convert import convert
from tfteach.framework.dimension import dimension_value
from tfteach.framework.dtypes import DType
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import control_dependencies
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.core import shape_ops
from tfteach.ops.core.fill import zeros
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.debug.print_assert import Assert
from tfteach.ops.math.compare import equal
from tfteach.ops.math.range import range as range_

# From a number, an int or an int32 Tensor, to a gradient for each source.
Differentiate = Callable[[Any], list[Gradient]]

# Rows that are built one by one, without a loop in the graph: tapes cannot
# differentiate the loops of TF 1's control flow.
_MOST_UNROLLED = 64


class RowLoop(Protocol):
    """Calls a function for each number below `count`, and stacks what it returns."""

    def __call__(
        self,
        function: Differentiate,
        dtypes: Sequence[DType],
        count: Any,
        parallel_iterations: int | None,
    ) -> list[Tensor | None]: ...


_loops: list[RowLoop] = []


def register_row_loop(loop: RowLoop) -> RowLoop:
    """Decorator: the loop that Jacobians use."""
    _loops.append(loop)
    return loop


def jacobian_of(
    target: Tensor,
    sources: Sequence[Any],
    differentiate: Differentiate,
    parallel_iterations: int | None,
    unrolls: bool,
) -> list[Tensor | None]:
    """The Jacobian for each source, of the shape of the target and then the source's.

    Args:
      target: of any shape.
      sources: tensors or variables.
      differentiate: the element of the flat target with some number.
      parallel_iterations: of the loop.
      unrolls: whether a short loop becomes separate nodes.
    """
    count = _size(target)
    found = _rows(differentiate, sources, count, parallel_iterations, unrolls)
    results: list[Tensor | None] = []
    for rows, source in zip(found, sources, strict=True):
        if rows is not None:
            sizes = [shape_ops.shape(target), shape_ops.shape(source)]
            rows = reshape(rows, concat(sizes, 0))
            rows.set_shape(target.shape.concatenate(source.shape))
        results.append(rows)
    return results


def batch_jacobian_of(
    target: Tensor,
    source: Any,
    differentiate: Differentiate,
    parallel_iterations: int | None,
    unrolls: bool,
) -> Tensor:
    """The Jacobian of each element of a batch.

    Args:
      target: a Tensor [batch, ...].
      source: a Tensor or variable [batch, ...].
      differentiate: the column of `matrix_of` with some number.
      parallel_iterations: of the loop.
      unrolls: whether a short loop becomes separate nodes.
    """
    _, columns = _matrix_shape(target)
    [found] = _rows(differentiate, [source], columns, parallel_iterations, unrolls)
    shape = concat([shape_ops.shape(target), shape_ops.shape(source)[1:]], 0)
    if found is None:
        return zeros(shape, source.dtype.base_dtype)
    axes: Any = [1, 0, *range(2, found.shape.ndims or 2)]
    if found.shape.ndims is None:
        axes = concat([axes, range_(2, shape_ops.rank(found))], 0)
    result = reshape(transpose(found, axes), shape)
    result.set_shape(target.shape.concatenate(source.shape[1:]))
    return result


def check_batches(target: Any, source: Any) -> None:
    """Raise for shapes of which `batch_jacobian` cannot be computed.

    Raises:
      ValueError: a rank is below 2, or the first sizes differ.
    """
    first = target.shape.with_rank_at_least(2)[:1]
    if not first.is_compatible_with(source.shape.with_rank_at_least(2)[:1]):
        raise ValueError(
            f"Need first dimension of target shape ({target.shape}) and source shape "
            f"({source.shape}) to match."
        )


def matrix_of(target: Tensor, source: Any) -> Tensor:
    """The target as a matrix with a row for each element of the batch."""
    batch, columns = _matrix_shape(target)
    checks = []
    if not isinstance(batch, int) or dimension_value(source.shape[0]) is None:
        first = shape_ops.shape(source)[0]
        checks.append(Assert()(equal(batch, first), [batch, first]))
    with control_dependencies(checks):
        return reshape(target, [batch, columns])


def _rows(
    differentiate: Differentiate,
    sources: Sequence[Any],
    count: Any,
    parallel_iterations: int | None,
    unrolls: bool,
) -> list[Tensor | None]:
    """For each source its gradients, stacked; None if the target does not depend."""
    dtypes = [source.dtype.base_dtype for source in sources]
    if isinstance(count, int) and not count:
        sizes = [concat([[0], shape_ops.shape(source)], 0) for source in sources]
        return [zeros(size, dtype) for size, dtype in zip(sizes, dtypes, strict=True)]
    if not (unrolls and isinstance(count, int) and count <= _MOST_UNROLLED):
        return _loops[-1](differentiate, dtypes, count, parallel_iterations)
    columns = zip(*(differentiate(i) for i in range(count)), strict=True)
    return [
        None if column[0] is None else stack([convert(row) for row in column])
        for column in columns
    ]


def _size(tensor: Tensor) -> Any:
    """The number of elements: an int if it is known, else a Tensor."""
    known = tensor.shape.num_elements()
    return shape_ops.size(tensor) if known is None else known


def _matrix_shape(target: Tensor) -> tuple[Any, Any]:
    """The size of a batch, and the number of elements of each of its elements."""
    known = target.shape.as_list() if target.shape.is_fully_defined() else None
    if known is not None:
        return known[0], math.prod(known[1:])
    batch = shape_ops.shape(target)[0]
    return batch, shape_ops.size(target) // batch
