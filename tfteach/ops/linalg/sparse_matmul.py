"""Products of matrices with many zeros.

Source: core/ops/math_ops.cc (SparseMatMul), python/ops/math_grad.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework.dtypes import dtypes_of, float32
from tfteach.framework.eager_tensor import EagerTensor
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require_matrix
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.core.shape_ops import cast
from tfteach.ops.linalg.matmul import MatMul, matmul


class SparseMatMul(Op):
    """The product of two matrices, with a hint that one has many zeros.

    Source: core/ops/math_ops.cc, SparseMatMul.
    """

    signature = "a: Ta, b: Tb -> product: float32"
    transpose_a: bool = False
    transpose_b: bool = False
    a_is_sparse: bool = False
    b_is_sparse: bool = False
    Ta = dtypes_of("float bfloat16")
    Ta_default = float32
    Tb = dtypes_of("float bfloat16")
    Tb_default = float32
    on_gpu: ClassVar[bool] = False

    def infer_shape(self, a: Shape, b: Shape) -> Shape:
        return MatMul(self.transpose_a, self.transpose_b).infer_shape(a, b)

    def check_shapes(self, a: tuple[int, ...], b: tuple[int, ...]) -> None:
        require_matrix(a, "a is not a matrix")
        require_matrix(b, "b is not a matrix")

    def compute(self, xp: ArrayModule, a: Array, b: Array) -> Any:
        # For BLAS, multiplying zeros is cheaper than searching for them.
        plain = MatMul(self.transpose_a, self.transpose_b)
        return plain.compute(xp, a.astype(np.float32), b.astype(np.float32))

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        a, b = op.inputs
        hints = {a: self.a_is_sparse, b: self.b_is_sparse}
        is_computed = not isinstance(grad, EagerTensor)
        hints[grad] = is_computed and grad.op.spec.is_mostly_zero

        def product(
            x: Any,
            y: Any,
            like: Any,
            transpose_x: bool = False,
            transpose_y: bool = False,
        ) -> Tensor:
            x_hint, y_hint = hints[x], hints[y]
            y = transpose(y) if transpose_y else y
            found = matmul(
                x, y, transpose_a=transpose_x, a_is_sparse=x_hint, b_is_sparse=y_hint
            )
            return found if found.dtype is like.dtype else cast(found, like.dtype)

        if not self.transpose_a:
            grad_a = product(grad, b, a, transpose_y=not self.transpose_b)
        else:
            grad_a = product(b, grad, a, transpose_x=self.transpose_b, transpose_y=True)
        if not self.transpose_b:
            return [grad_a, product(a, grad, b, transpose_x=not self.transpose_a)]
        return [
            grad_a,
            product(grad, a, b, transpose_x=True, transpose_y=self.transpose_a),
        ]


@export("sparse_matmul")
def sparse_matmul(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of two matrices, one of which may have many zeros.

    Args:
      a, b: float32 or bfloat16 Tensors [m, k] and [k, n].
      transpose_a, transpose_b: transpose this matrix first.
      a_is_sparse, b_is_sparse: hints that a matrix has many zeros.
      name: the op's name.

    Returns:
      A float32 Tensor [m, n].

    Source: SparseMatMul in core/ops/math_ops.cc.
    """
    flags = transpose_a, transpose_b, a_is_sparse, b_is_sparse
    return SparseMatMul(*map(bool, flags))(a, b, name=name)
