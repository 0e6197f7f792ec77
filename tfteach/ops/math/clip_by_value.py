"""`tf.clip_by_value`.  Source: core/ops/math_ops.cc; python/ops/clip_ops.py."""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.op import Op
from tfteach.framework.op_traits import Int32Kernel
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require
from tfteach.framework.type_aliases import Array, ArrayModule, TensorLike
from tfteach.ops.math.binary import maximum, minimum
from tfteach.ops.math.compare import NUMBER_TYPES


class ClipByValue(Op):
    """Each element clipped to a range.  Source: math_ops.cc, ClipByValue."""

    signature = "t: T, clip_value_min: T, clip_value_max: T -> output: T"
    T = NUMBER_TYPES
    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def infer_shape(self, t: Shape, *limits: Shape) -> Shape:
        return t

    def check_shapes(
        self,
        t: tuple[int, ...],
        clip_value_min: tuple[int, ...],
        clip_value_max: tuple[int, ...],
    ) -> None:
        own = (t, ())
        require(
            clip_value_min in own and clip_value_max in own,
            "clip_value_min and clip_value_max must be either of the same shape as "
            "input, or a scalar. input shape: %sclip_value_min shape: %s"
            "clip_value_max shape: %s",
            t,
            clip_value_min,
            clip_value_max,
        )

    def compute(
        self, xp: ArrayModule, t: Array, clip_value_min: Array, clip_value_max: Array
    ) -> Any:
        # NaN limits have no effect.
        found = xp.where(t > clip_value_max, clip_value_max, t)
        return xp.where(found < clip_value_min, clip_value_min, found)


@export("clip_by_value")
def clip_by_value(
    t: TensorLike | IndexedSlices,
    clip_value_min: TensorLike,
    clip_value_max: TensorLike,
    name: str | None = None,
) -> Any:
    """Each element clipped to the range from `clip_value_min` to `clip_value_max`.

    y = max(min(t, clip_value_max), clip_value_min)

    Args:
      t: float or int Tensor (or IndexedSlices) of any shape.
      clip_value_min, clip_value_max: the limits, of the type of `t`, broadcast to it.
      name: the op's name.

    Returns:
      A Tensor (or IndexedSlices, if `t` is) of its shape and type.

    Raises:
      ValueError: broadcasting the limits would enlarge `t`.

    Example:
      >>> tf.Session().run(tf.clip_by_value([-2.0, 0.5, 3.0], 0.0, 1.0))
      array([0. , 0.5, 1. ], dtype=float32)

    Source: python/ops/clip_ops.py.
    """
    given = [t, clip_value_min, clip_value_max]
    with name_scope(name, "clip_by_value", given) as scope:
        values = convert(t.values if isinstance(t, IndexedSlices) else t, name="t")
        low = minimum(values, clip_value_max)
        shapes.merge(values._shape, low._shape)
        clipped = maximum(low, clip_value_min, name=scope)
        shapes.merge(values._shape, clipped._shape)
        if isinstance(t, IndexedSlices):
            return IndexedSlices(clipped, t.indices, t.dense_shape)
        return clipped
