"""`tf.hessians`.  Source: python/ops/gradients_impl.py."""

from __future__ import annotations

from typing import Any

from tfteach.autodiff.gradients import gradients
from tfteach.control.loop import while_loop
from tfteach.control.tensor_array import TensorArray
from tfteach.framework.dtypes import int32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.array.concat_split import concat
from tfteach.ops.core.constant import constant
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import shape, size


@export("hessians")
def hessians(
    ys: TensorLike,
    xs: TensorLike,
    name: str = "hessians",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
) -> list[Tensor]:
    """The second derivatives of the sum of `ys` with respect to each of `xs`.

    H[i, j] = ∂² Σ ys / ∂xᵢ ∂xⱼ

    Args:
      ys: a Tensor or a list of them.
      xs: a Tensor or a list of them.
      name: ignored, as in TF.
      colocate_gradients_with_ops, gate_gradients, aggregation_method: for the first
        derivatives, as in `tf.gradients`.

    Returns:
      A list with one Tensor per x, of x's shape repeated twice.

    Raises:
      LookupError: an op in between has no gradient.

    Example:
      >>> x = tf.constant([1.0, 2.0])
      >>> tf.Session().run(tf.hessians(tf.reduce_sum(x**3), x)[0])
      array([[ 6.,  0.],
             [ 0., 12.]], dtype=float32)

    Source: python/ops/gradients_impl.py.
    """
    xs = list(xs) if isinstance(xs, list | tuple) else [xs]
    firsts = gradients(
        ys,
        xs,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
    )
    return [_hessian(first, x) for first, x in zip(firsts, xs, strict=True)]


def _hessian(first: Any, x: Any) -> Tensor:
    """The Hessian row by row: the gradient of each element of the first derivative."""
    flat = reshape(first, [-1])
    n = size(x)

    def row(j: Any, rows: Any) -> Any:
        return j + 1, rows.write(j, gradients(flat[j], x)[0])

    start = [constant(0, int32), TensorArray(x.dtype, n)]
    _, rows = while_loop(lambda j, _: j < n, row, start)
    own = shape(x)
    return reshape(rows.stack(), concat((own, own), 0))
