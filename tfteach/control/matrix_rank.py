"""`tf.linalg.matrix_rank` and `tf.linalg.pinv`, by singular values.

Source: python/ops/linalg/linalg_impl.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfteach.control.checks.ranks import assert_rank_at_least
from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import float32, int32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import control_dependencies, name_scope
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.array.where_select import where_v2
from tfteach.ops.core.identity_reshape import expand_dims, identity
from tfteach.ops.core.shape_ops import cast, shape
from tfteach.ops.linalg.matmul import matmul
from tfteach.ops.linalg.svd import svd
from tfteach.ops.math.binary import maximum
from tfteach.ops.math.reduce_functions import reduce_max, reduce_sum


def _checked(a: Tensor, validate_args: bool) -> Tensor:
    """The matrix, after a check that it has floats."""
    if not a.dtype.is_floating:
        raise TypeError(
            f"Input `a` must have `float`-like `dtype` (saw {a.dtype.name})."
        )
    known = a.shape.rank
    if known is not None and known < 2:
        raise ValueError(f"Input `a` must have at least 2 dimensions (saw: {known}).")
    if known is None and validate_args:
        message = "Input `a` must have at least 2 dimensions."
        check = assert_rank_at_least(a, rank=2, message=message)
        with control_dependencies([check]):
            return identity(a)
    return a


@export("linalg.matrix_rank")
def matrix_rank(
    a: TensorLike,
    tol: TensorLike | None = None,
    validate_args: bool = False,
    name: str | None = None,
) -> Tensor:
    """The rank of each matrix: the number of nonzero singular values.

    Args:
      a: float Tensor [..., m, n].
      tol: the threshold of zero (by default eps * max(m, n) * the largest one).
      validate_args: check the tensor's rank at run time if it is unknown.
      name: the name of the scope.

    Returns:
      An int32 Tensor [...].

    Source: python/ops/linalg/linalg_impl.py.
    """
    with name_scope(name or "matrix_rank"):
        a = _checked(convert(a, None, "a", float32), validate_args)
        s = svd(a, compute_uv=False)
        if tol is None:
            known = None if a._shape is None else a._shape[-2:]
            if shapes.is_full(known):
                longest: Any = np.max(known)
            else:
                longest = reduce_max(shape(a)[-2:])
            eps = np.finfo(a.dtype.numpy_dtype).eps
            least = eps * cast(longest, a.dtype)
            tol = least * reduce_max(s, axis=-1, keepdims=True)
        return reduce_sum(cast(s > tol, int32), axis=-1)


@export("linalg.pinv")
def pinv(
    a: TensorLike,
    rcond: TensorLike | None = None,
    validate_args: bool = False,
    name: str | None = None,
) -> Tensor:
    """The Moore-Penrose pseudo-inverses of matrices.

    pinv(u @ diag(s) @ vᵀ) = v @ diag(1 / s) @ uᵀ, with 1 / s = 0 for small s

    Args:
      a: float Tensor [..., m, n].
      rcond: the threshold of small singular values relative to the largest; by default
        10 * max(m, n) * eps.
      validate_args: check the tensor's rank at run time if it is unknown.
      name: the name of the scope.

    Returns:
      A Tensor [..., n, m] of that type.

    Raises:
      TypeError: `a` is not a float tensor.

    Source: python/ops/linalg/linalg_impl.py.
    """
    with name_scope(name or "pinv"):
        a = _checked(convert(a, name="a"), validate_args)
        dtype = a.dtype.numpy_dtype
        if rcond is None:
            rcond = 10.0 * _longest_side(a) * np.finfo(dtype).eps
        rcond = convert(rcond, a.dtype, "rcond")
        s, u, v = svd(a, full_matrices=False, compute_uv=True)
        cutoff = rcond * reduce_max(s, axis=-1)
        is_large = s > expand_dims(cutoff, -1)
        s = where_v2(is_large, s, np.array(np.inf, dtype))
        found = matmul(v / expand_dims(s, -2), u, adjoint_b=True)
        if a.shape.rank is not None:
            *batch, rows, columns = a.shape.as_list()
            found.set_shape(TensorShape([*batch, columns, rows]))
        return found


def _longest_side(a: Tensor) -> Any:
    known = [None, None] if a._shape is None else a._shape[-2:]
    rows, columns = [
        own if own is not None else shape(a)[axis]
        for axis, own in zip((-2, -1), known, strict=True)
    ]
    if isinstance(rows, int) and isinstance(columns, int):
        return float(max(rows, columns))
    return cast(maximum(rows, columns), a.dtype)
