"""`tf.math.polyval`.  Source: python/ops/math_ops.py."""

from __future__ import annotations

from collections.abc import Sequence

from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.core.fill import zeros_like


@export("math.polyval")
def polyval(
    coeffs: Sequence[TensorLike], x: TensorLike, name: str | None = None
) -> Tensor:
    """The value of a polynomial, element-wise.

    p(x) = coeffs[n] + x * (coeffs[n-1] + ... + x * coeffs[0])

    Args:
      coeffs: list of Tensors, the coefficient of the highest power first.
      x: Tensor that broadcasts against the coefficients.
      name: the name of the scope.

    Returns:
      A Tensor of the broadcast shape; zeros if there are no coefficients.

    Example:
      >>> tf.Session().run(tf.math.polyval([1.0, 2.0, 3.0], 2.0))
      11.0

    Source: python/ops/math_ops.py.
    """
    with name_scope(name, "polyval", [*coeffs, x]) as scope:
        x = convert(x, name="x")
        if len(coeffs) < 1:
            return zeros_like(x, name=scope)
        parts = [convert(c, name=f"coeff_{i}") for i, c in enumerate(coeffs)]
        total = parts[0]
        for part in parts[1:]:
            total = part + total * x
        return total
