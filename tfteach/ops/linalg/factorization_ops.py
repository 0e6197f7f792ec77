"""Ops of matrix factorization by weighted alternating least squares.

Source: contrib/factorization/ops/factorization_ops.cc,
contrib/factorization/kernels/{masked_matmul_ops,wals_solver_ops}.cc.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework.errors import invalid_argument
from tfteach.framework.op import MultiOutputOp, Op
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import (
    require,
    require_matrix,
    require_scalar,
    require_vector,
)
from tfteach.framework.type_aliases import Array, ArrayModule


def _check_indices(name: str, indices: Array, limits: tuple[int, ...]) -> None:
    """Raise InvalidArgumentError for indices out of range; TensorFlow aborts there."""
    if len(indices) and not ((indices >= 0) & (indices < limits)).all():
        raise invalid_argument(
            f"{name} must be in [0, {list(limits)}), got {indices.min(0).tolist()} to "
            f"{indices.max(0).tolist()}"
        )


class MaskedMatmul(Op):
    """Elements of a matrix product: those at the positions `mask_indices`.

    Source: contrib/factorization/ops/factorization_ops.cc, MaskedMatmul.
    """

    signature = (
        "a: float32, b: float32, mask_indices: int64, transpose_a: bool, "
        "transpose_b: bool -> prod_values: float32"
    )

    on_gpu: ClassVar[bool] = False

    def infer_shape(
        self, a: Shape, b: Shape, mask_indices: Shape, ta: Shape, tb: Shape
    ) -> Shape:
        return None

    def compute(
        self,
        xp: ArrayModule,
        a: Array,
        b: Array,
        mask_indices: Array,
        transpose_a: Array,
        transpose_b: Array,
    ) -> Array:
        require_matrix(a.shape, "Input a should be a matrix.")
        require_matrix(b.shape, "Input b should be a matrix.")
        require_matrix(mask_indices.shape, "Input mask_indices should be a matrix.")
        require(
            mask_indices.shape[1] == 2,
            "mask_indices should be a matrix of shape [nnz 2], where nnz is the "
            "number of non-zero elements.",
        )
        require_scalar(transpose_a.shape, "Input transpose_a should be a scalar.")
        require_scalar(transpose_b.shape, "Input transpose_b should be a scalar.")
        left, right = a.T if transpose_a else a, b if transpose_b else b.T
        if left.shape[1] != right.shape[1]:
            raise invalid_argument(
                "Matrix shapes are incompatible: a has shape "
                f"{_shown(a)}, while b has shape {_shown(b)}."
            )
        _check_indices("mask_indices", mask_indices, (len(left), len(right)))
        rows, columns = mask_indices.T
        found: Array = np.einsum("ij,ij->i", left[rows], right[columns])
        return found


def _shown(array: Array) -> str:
    return "[" + ",".join(map(str, array.shape)) + "]"


class WALSComputePartialLhsAndRhs(MultiOutputOp):
    """The normal equations of rows, as far as observed entries contribute.

    For an entry v in row i and column j of weight w, `factors[j]` = f adds w f f^T to
    partial_lhs[i] and (unobserved_weights + w) v f to partial_rhs[i].

    Source: contrib/factorization/ops/factorization_ops.cc; Y. Hu and others,
    "Collaborative Filtering for Implicit Feedback Datasets" (2008).
    """

    signature = (
        "factors: float32, factor_weights: float32, unobserved_weights: float32, "
        "input_weights: float32, input_indices: int64, input_values: float32, "
        "entry_weights: float32, input_block_size: int64, input_is_transpose: bool "
        "-> partial_lhs: float32, partial_rhs: float32"
    )

    on_gpu: ClassVar[bool] = False

    def infer_shape(self, factors: Shape, *others: Shape) -> list[Shape]:
        return [None, None]

    def compute(
        self,
        xp: ArrayModule,
        factors: Array,
        factor_weights: Array,
        unobserved_weights: Array,
        input_weights: Array,
        input_indices: Array,
        input_values: Array,
        entry_weights: Array,
        input_block_size: Array,
        input_is_transpose: Array,
    ) -> Any:
        require_matrix(factors.shape, "Input factors should be a matrix.")
        message = "Input %s should be a vector."
        require_vector(factor_weights.shape, message % "factor_weights")
        scalar = "Input %s should be a scalar."
        require_scalar(unobserved_weights.shape, scalar % "unobserved_weights")
        require_vector(input_weights.shape, message % "input_weights")
        require_matrix(input_indices.shape, "Input input_indices should be a matrix.")
        require_vector(input_values.shape, "Input input_values should be a vector")
        require_vector(entry_weights.shape, "Input entry_weights should be a vector")
        require(
            len(input_indices) == len(input_values),
            "Input input_values' length should match the first dimension of Input "
            "input_indices ",
        )
        require_scalar(input_block_size.shape, scalar % "input_block_size")
        require_scalar(input_is_transpose.shape, scalar % "input_is_transpose")
        by_entry, count = len(entry_weights) > 0, len(input_values)
        if by_entry:
            is_clear = not len(factor_weights) and not len(input_weights)
        else:
            is_clear = len(factor_weights) == len(factors) and len(input_weights) > 0
        require(
            is_clear,
            "To specify the weights for observed entries, either (1) entry_weights "
            "must be set or (2) input_weights and factor_weights must be set, but not "
            "both.",
        )
        size, width = int(input_block_size), factors.shape[1]
        # TensorFlow reads beyond weights that are too few.
        message = "There must be a weight for each %s: %s weights, %s needed"
        given, needed = len(input_weights), size
        if by_entry:
            given, needed = len(entry_weights), count
        kind = "entry" if by_entry else "row"
        require(given >= needed, message, kind, given, needed)
        indices = input_indices[:, ::-1] if input_is_transpose else input_indices
        _check_indices("input_indices", indices, (size, len(factors)))
        rows, columns = indices.T
        weights = entry_weights[:count]
        if not by_entry:
            weights = input_weights[rows] * factor_weights[columns]
        lhs = np.zeros((size, width, width), np.float32)
        rhs = np.zeros((size, width), np.float32)
        found = factors[columns]
        products = found[:, :, None] * found[:, None, :]
        np.add.at(lhs, rows, weights[:, None, None] * products)
        values = (unobserved_weights + weights) * input_values
        np.add.at(rhs, rows, values[:, None] * found)
        return lhs, rhs
