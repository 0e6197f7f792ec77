"""Clipping by norm: clip_by_norm, clip_by_global_norm, clip_by_average_norm.

Source: python/ops/clip_ops.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import float32
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.array.where_select import where
from tfteach.ops.core import shape_ops
from tfteach.ops.core.constant import constant
from tfteach.ops.core.fill import ones_like
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.core.shape_ops import rank
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.math.binary import maximum, minimum
from tfteach.ops.math.cast import cast
from tfteach.ops.math.range import range as range_of
from tfteach.ops.math.reduce_functions import reduce_sum
from tfteach.ops.math.rounding import is_finite
from tfteach.ops.math.unary import rsqrt, sqrt
from tfteach.ops.nn.l2_loss import L2Loss


@export("clip_by_norm")
def clip_by_norm(
    t: TensorLike,
    clip_norm: TensorLike,
    axes: TensorLike | None = None,
    name: str | None = None,
) -> Any:
    """A tensor scaled down to a maximum norm.

    y = t * clip_norm / max(‖t‖₂, clip_norm)

    Args:
      t: float Tensor of any shape, or IndexedSlices.
      clip_norm: Tensor [], the maximum norm.
      axes: the axes of the norm; all if None.
      name: the op's name.

    Returns:
      A Tensor (or IndexedSlices, if `t` is) of its shape and type.

    Example:
      >>> tf.Session().run(tf.clip_by_norm([3.0, 4.0], 1.0))
      array([0.6, 0.8], dtype=float32)

    Source: python/ops/clip_ops.py.
    """
    with name_scope(name, "clip_by_norm", [t, clip_norm]) as scope:
        values = convert(t.values if isinstance(t, IndexedSlices) else t, name="t")
        total = reduce_sum(values * values, axes, True)
        is_positive = total > 0
        # The root has no gradient at 0: use 1 there.
        safe = where(is_positive, total, ones_like(total))
        size = where(is_positive, sqrt(safe), total)
        scaled = values * clip_norm
        shapes.merge(values._shape, scaled._shape)
        clipped = identity(scaled / maximum(size, clip_norm), name=scope)
        return _like(t, clipped)


def _like(t: Any, values: Tensor) -> Any:
    if isinstance(t, IndexedSlices):
        return IndexedSlices(values, t.indices, t.dense_shape)
    return values


def _listed(t_list: Any) -> list[Any]:
    if not isinstance(t_list, Sequence) or isinstance(t_list, str):
        raise TypeError("t_list should be a sequence")
    return list(t_list)


def _values(t_list: list[Any]) -> list[Tensor | None]:
    return [
        None if t is None
        else convert(t.values if isinstance(t, IndexedSlices) else t, name=f"t_{i}")
        for i, t in enumerate(t_list)
    ]  # fmt: skip


@export("linalg.global_norm", "global_norm")
def global_norm(t_list: Sequence[TensorLike], name: str | None = None) -> Tensor:
    """The norm of several tensors, as if concatenated into one vector.

    y = √Σ ‖t‖₂²

    Args:
      t_list: a sequence of float Tensors, IndexedSlices and None (ignored).
      name: the name of the scope of its ops.

    Returns:
      A Tensor [].

    Raises:
      TypeError: `t_list` is not a sequence.

    Example:
      >>> tf.Session().run(tf.global_norm([[3.0], [4.0]]))
      array(5., dtype=float32)

    Source: python/ops/clip_ops.py.
    """
    tensors = _listed(t_list)
    with name_scope(name, "global_norm", tensors):
        halves = []
        for value in _values(tensors):
            if value is not None:
                with get_default_graph().colocate_with(value):
                    halves.append(L2Loss()(value))
        half = reduce_sum(stack(halves))
        return sqrt(half * constant(2.0, dtype=half.dtype), name="global_norm")


@export("clip_by_global_norm")
def clip_by_global_norm(
    t_list: Sequence[TensorLike],
    clip_norm: TensorLike,
    use_norm: Any = None,
    name: str | None = None,
) -> tuple[list[Any], Tensor]:
    """Several tensors scaled down together to a maximum global norm.

    yᵢ = tᵢ * clip_norm / max(global_norm, clip_norm)

    Args:
      t_list: a sequence of float Tensors, IndexedSlices and None (returned as None).
      clip_norm: Tensor [], the maximum global norm.
      use_norm: the global norm, if it is already computed.
      name: the name of the scope of its ops.

    Returns:
      (the scaled list, the norm before scaling); nan everywhere if that is not finite.

    Raises:
      TypeError: `t_list` is not a sequence.

    Example:
      >>> clipped, norm = tf.clip_by_global_norm([[3.0], [4.0]], 1.0)
      >>> tf.Session().run(norm)
      5.0

    Source: python/ops/clip_ops.py.
    """
    tensors = _listed(t_list)
    if use_norm is None:
        use_norm = global_norm(tensors, name)
    with name_scope(name, "clip_by_global_norm", [*tensors, clip_norm]) as scope:
        one = 1.0 / use_norm
        bound = constant(1.0, dtype=use_norm.dtype) / clip_norm
        finite_scale = clip_norm * minimum(one, bound)
        finite = is_finite(use_norm)
        nan = constant(float("nan"), dtype=use_norm.dtype)
        scale = where(finite, finite_scale, nan)
        clipped: list[Any] = []
        for i, (t, value) in enumerate(zip(tensors, _values(tensors), strict=True)):
            if value is None:
                clipped.append(None)
                continue
            with get_default_graph().colocate_with(value):
                scaled = identity(value * scale, name=f"{scope}_{i}")
            clipped.append(_like(t, scaled))
        return clipped, use_norm


@export("clip_by_average_norm")
def clip_by_average_norm(
    t: TensorLike, clip_norm: TensorLike, name: str | None = None
) -> Tensor:
    """A tensor scaled down to a maximum average norm.

    y = t * clip_norm / max(‖t‖₂ / n, clip_norm), n the number of elements

    Args:
      t: float32 Tensor of any shape.
      clip_norm: Tensor [], the maximum norm per element.
      name: the op's name.

    Returns:
      A Tensor of the same shape and type.

    Example:
      >>> tf.Session().run(tf.clip_by_average_norm([3.0, 4.0], 1.0))
      array([1.2, 1.6], dtype=float32)

    Source: python/ops/clip_ops.py.
    """
    with name_scope(name, "clip_by_average_norm", [t, clip_norm]) as scope:
        t = convert(t, name="t")
        count = cast(shape_ops.size(t), float32)
        squares = t * t
        axes = range_of(rank(t))
        inverse = rsqrt(reduce_sum(squares, axes))
        scaled = t * clip_norm
        least = minimum(inverse * count, constant(1.0) / clip_norm)
        return identity(scaled * least, name=scope)
