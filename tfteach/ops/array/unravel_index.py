"""`tf.unravel_index`.  Source: core/ops/array_ops.cc, UnravelIndex."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import int32
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, TensorLike
from tfteach.ops.core.identity_reshape import INDICES


class UnravelIndex(Op):
    """Coordinates of flat indices.  Source: array_ops.cc, UnravelIndex."""

    signature = "indices: Tidx, dims: Tidx -> output: Tidx"
    Tidx = INDICES
    Tidx_default = int32
    on_gpu: ClassVar[bool] = False

    def infer_shape(self, indices: Shape, dims: Shape) -> Shape:
        (axes,) = shapes.with_rank(dims, 1)
        if indices is None:
            return None
        return (axes, *indices) if len(indices) <= 1 else None

    def compute(self, xp: ArrayModule, indices: Array, dims: Array) -> Any:
        if indices.ndim > 1:
            raise invalid_argument(
                "The indices can only be scalar or vector, got "
                f'"{shapes.text(indices.shape)}"'
            )
        if (dims == 0).any():
            raise invalid_argument("Input dims cannot contain a dim of zero")
        # TF's arithmetic, which does not reject out-of-range indices either.
        inner = np.concatenate([np.cumprod(dims[:0:-1])[::-1], [1]]).astype(dims.dtype)
        whole = (inner * dims)[(slice(None),) + (None,) * indices.ndim]
        inner = inner[(slice(None),) + (None,) * indices.ndim]
        found = np.trunc(np.fmod(indices[None], whole) / inner)
        return found.astype(dims.dtype)


@export("unravel_index")
def unravel_index(
    indices: TensorLike, dims: TensorLike, name: str | None = None
) -> Tensor:
    """The coordinates of elements given by their index in the flattened array.

    Args:
      indices: int Tensor [] or [n], the flat indices.
      dims: Tensor [rank] of that type: the array's shape.
      name: the op's name.

    Returns:
      A Tensor [rank] or [rank, n] of that type.

    Example:
      >>> tf.Session().run(tf.unravel_index(5, [3, 3]))
      array([1, 2], dtype=int32)

    Source: UnravelIndex in core/ops/array_ops.cc.
    """
    return UnravelIndex()(indices, dims, name=name)
