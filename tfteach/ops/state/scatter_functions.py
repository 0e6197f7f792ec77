"""`tf.scatter_update` etc.: partial updates of reference and resource variables.

Source: python/ops/state_ops.py (API, node names).
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.array.concat_split import concat
from tfteach.ops.core.fill import ones_like
from tfteach.ops.core.identity_reshape import expand_dims, reshape
from tfteach.ops.core.shape_ops import cast, shape
from tfteach.ops.math.range import Range
from tfteach.ops.state import scatter_ops as parts


def _update(
    kinds: tuple[Any, Any], ref: Any, indices: Any, updates: Any, locking: bool,
    name: str | None,
) -> Any:  # fmt: skip
    of_reference, of_resource = kinds
    if ref.dtype.is_ref:
        return of_reference(locking)(ref, indices, updates, name=name)
    values = convert(updates, ref.dtype)
    return ref._lazy_read(of_resource()(ref.handle, indices, values, name=name))


@export("scatter_update")
def scatter_update(
    ref: Any,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = True,
    name: str | None = None,
) -> Any:
    """Set rows of a variable: `ref[indices[i]] = updates[i]`.

    Args:
      ref: a Variable, or its reference.
      indices: int32 or int64 Tensor of row indices.
      updates: Tensor [*indices' shape, *ref's shape without the first], or a scalar.
      use_locking: whether concurrent updates are excluded.
      name: the op's name.

    Returns:
      A Tensor of the variable's new value.

    Raises:
      tf.errors.InvalidArgumentError: (when run) an index is out of range.
    """
    kinds = parts.ScatterUpdate, parts.ResourceScatterUpdate
    return _update(kinds, ref, indices, updates, use_locking, name)


@export("scatter_add")
def scatter_add(
    ref: Any,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Any:
    """Add to rows of a variable: `ref[indices[i]] += updates[i]` for each i.

    The arguments are those of `tf.scatter_update`.
    """
    kinds = parts.ScatterAdd, parts.ResourceScatterAdd
    return _update(kinds, ref, indices, updates, use_locking, name)


@export("scatter_sub")
def scatter_sub(
    ref: Any,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Any:
    """Subtract from rows of a variable: `ref[indices[i]] -= updates[i]`.

    The arguments are those of `tf.scatter_update`.
    """
    kinds = parts.ScatterSub, parts.ResourceScatterSub
    return _update(kinds, ref, indices, updates, use_locking, name)


@export("scatter_mul")
def scatter_mul(
    ref: Any,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Any:
    """Multiply rows of a variable: `ref[indices[i]] *= updates[i]`.

    The arguments are those of `tf.scatter_update`.
    """
    kinds = parts.ScatterMul, parts.ResourceScatterMul
    return _update(kinds, ref, indices, updates, use_locking, name)


@export("scatter_div")
def scatter_div(
    ref: Any,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Any:
    """Divide rows of a variable: `ref[indices[i]] /= updates[i]`.

    The arguments are those of `tf.scatter_update`.
    """
    kinds = parts.ScatterDiv, parts.ResourceScatterDiv
    return _update(kinds, ref, indices, updates, use_locking, name)


@export("scatter_min")
def scatter_min(
    ref: Any,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Any:
    """The minimum of a variable's rows and `updates`, assigned to the rows.

    `ref[indices[i]] = min(ref[indices[i]], updates[i])`.

    The arguments are those of `tf.scatter_update`.
    """
    kinds = parts.ScatterMin, parts.ResourceScatterMin
    return _update(kinds, ref, indices, updates, use_locking, name)


@export("scatter_max")
def scatter_max(
    ref: Any,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Any:
    """The maximum of a variable's rows and `updates`, assigned to the rows.

    `ref[indices[i]] = max(ref[indices[i]], updates[i])`.

    The arguments are those of `tf.scatter_update`.
    """
    kinds = parts.ScatterMax, parts.ResourceScatterMax
    return _update(kinds, ref, indices, updates, use_locking, name)


@export("scatter_nd_update")
def scatter_nd_update(
    ref: Any,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = True,
    name: str | None = None,
) -> Any:
    """Assign to elements or slices of a variable.

    Args:
      ref: a Variable of rank n, or its reference.
      indices: int Tensor [..., k], k <= n: each row addresses an element (or a slice).
      updates: Tensor [*indices' shape without the last, *ref's shape from k on].
      use_locking: whether concurrent updates are excluded.
      name: the op's name.

    Returns:
      A Tensor of the variable's new value.
    """
    kinds = parts.ScatterNdUpdate, parts.ResourceScatterNdUpdate
    return _update(kinds, ref, indices, updates, use_locking, name)


@export("scatter_nd_add")
def scatter_nd_add(
    ref: Any,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Any:
    """Add to elements or slices of a variable; equal indices accumulate.

    The arguments are those of `tf.scatter_nd_update`.
    """
    kinds = parts.ScatterNdAdd, parts.ResourceScatterNdAdd
    return _update(kinds, ref, indices, updates, use_locking, name)


@export("scatter_nd_sub")
def scatter_nd_sub(
    ref: Any,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Any:
    """Subtract from elements or slices of a variable.

    The arguments are those of `tf.scatter_nd_update`.
    """
    kinds = parts.ScatterNdSub, parts.ResourceScatterNdSub
    return _update(kinds, ref, indices, updates, use_locking, name)


@export("batch_scatter_update")
def batch_scatter_update(
    ref: Any,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = True,
    name: str | None = None,
) -> Any:
    """Assign to entries along the last axis of `indices`, batch by batch.

    `ref[i1, ..., in, indices[i1, ..., in, j]] = updates[i1, ..., in, j]`.

    Args:
      ref: a Variable, or its reference.
      indices: int Tensor [*batch, m], indices along the axis after the batch.
      updates: Tensor [*batch, m, *ref's shape after that axis].
      use_locking: whether concurrent updates are excluded.
      name: the name scope of its ops; as in TF, None opens no scope.

    Raises:
      ValueError: the rank of `indices` is unknown.
    """
    if name is None:
        return _batch_scatter_update(ref, indices, updates, use_locking)
    with name_scope(name):
        return _batch_scatter_update(ref, indices, updates, use_locking)


def _batch_scatter_update(ref: Any, indices: Any, updates: Any, locking: bool) -> Any:
    indices = convert(indices, None, "indices")
    sizes = shape(indices)
    rank = indices.shape.ndims
    if rank is None:
        raise ValueError("batch_gather does not allow indices with unknown shape.")
    last = expand_dims(indices, axis=-1)
    columns = []
    for axis in range(rank - 1):
        size = sizes[axis]
        broadcast: list[Any] = [1] * (rank + 1)
        broadcast[axis] = size
        along = reshape(Range()(0, size, 1), broadcast)
        if along.dtype.base_dtype is not last.dtype:
            along = cast(along, last.dtype)
        columns.append(along * ones_like(last))
    points = concat([*columns, last], axis=-1)
    return scatter_nd_update(ref, points, updates, use_locking=locking)
