"""The gradient of MatrixSetDiagV2, which branches on the sign of `k`.

Source: python/ops/array_grad.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.autodiff.gradient_registry import gradient_of
from tfteach.control.branch import cond
from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert_to_tensor
from tfteach.framework.operation import Operation, Tensor
from tfteach.ops.array.concat_split import concat
from tfteach.ops.core.fill import zeros
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.linalg.matrix_diag import matrix_diag_part, matrix_set_diag
from tfteach.ops.linalg.matrix_diag_v2 import MatrixSetDiagV2
from tfteach.ops.math.binary import minimum
from tfteach.ops.math.compare import equal, greater, less


@gradient_of(MatrixSetDiagV2)
def _gradient(op: Operation, grad: Any) -> list[Any]:
    k = op.inputs[2]
    known: Any = op.inputs[1]._shape
    if not shapes.is_full(known):
        known = _diagonal_shape(grad, k)
    nothing = zeros(known, dtype=grad.dtype)
    input_grad = matrix_set_diag(grad, nothing, k=k)
    return [input_grad, matrix_diag_part(grad, k=k), None]


def _diagonal_shape(grad: Any, k: Any) -> Tensor:
    """The shape of the diagonals, computed at run time."""
    sizes = shape(grad)
    batch, matrix = sizes[:-2], sizes[-2:]
    band = reshape(k, [-1])
    low, high = band[0], band[-1]
    down = cond(less(high, 0), lambda: high, lambda: 0)
    right = cond(greater(low, 0), lambda: -low, lambda: 0)
    longest = minimum(matrix[0] + down, matrix[1] + right)
    last = cond(
        equal(low, high),
        lambda: convert_to_tensor([longest]),
        lambda: convert_to_tensor([high - low + 1, longest]),
    )
    return concat([batch, last], 0)
