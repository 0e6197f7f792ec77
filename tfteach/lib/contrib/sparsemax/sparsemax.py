"""Sparsemax and its loss.

Source: contrib/sparsemax/python/ops/sparsemax.py, sparsemax_loss.py; Martins and
Astudillo 2016.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.array.gather_nd import gather_nd
from tfteach.ops.array.top_k import top_k
from tfteach.ops.array.where_select import where
from tfteach.ops.core.fill import fill, zeros_like
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.math.binary import maximum
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import equal, logical_and, logical_or
from tfteach.ops.math.cumsum import cumsum
from tfteach.ops.math.range import range as range_of
from tfteach.ops.math.reduce_functions import reduce_sum
from tfteach.ops.math.rounding import is_inf, is_nan


@export("contrib.sparsemax.sparsemax")
def sparsemax(logits: TensorLike, name: str | None = None) -> Tensor:
    """The projection of each row onto probabilities: `max(0, x - t)`, with sum 1.

    Args:
      logits: float Tensor [batch, classes].
      name: the scope of the ops.

    Returns:
      A Tensor of the same shape; nan in rows without a projection.

    Example:
      >>> tf.Session().run(tf.contrib.sparsemax.sparsemax([[3.0, 1.0, 0.5]]))
      array([[1., 0., 0.]], dtype=float32)

    Source: contrib/sparsemax/python/ops/sparsemax.py.
    """
    with name_scope(name, "sparsemax", [logits]):
        logits = convert(logits, name="logits")
        batch, classes = shape(logits)[0], shape(logits)[1]
        ordered, _ = top_k(logits, k=classes)
        total = cumsum(ordered, axis=1)
        last = cast(classes, logits.dtype) + 1
        counts = range_of(1, last, dtype=logits.dtype)
        # The number of largest elements that remain above zero.
        is_kept = 1 + counts * ordered > total
        kept = reduce_sum(cast(is_kept, int32), axis=1)
        at_least_one = maximum(kept, 1)
        places = stack([range_of(0, batch), at_least_one - 1], axis=1)
        threshold = (gather_nd(total, places) - 1) / cast(kept, logits.dtype)
        zero = cast(0, logits.dtype)
        found = maximum(zero, logits - threshold[:, None])
        is_undefined = logical_or(equal(kept, 0), is_nan(total[:, -1]))
        nan = cast(float("nan"), logits.dtype)
        return where(is_undefined, fill([batch, classes], nan), found)


@export("contrib.sparsemax.sparsemax_loss")
def sparsemax_loss(
    logits: TensorLike, sparsemax: Any, labels: TensorLike, name: str | None = None
) -> Tensor:
    """The loss of `tf.contrib.sparsemax.sparsemax`, with gradient `sparsemax - labels`.

    Args:
      logits: float Tensor [batch, classes].
      sparsemax: the result of `tf.contrib.sparsemax.sparsemax` for them.
      labels: Tensor of the same type and shape, probabilities.
      name: the scope of the ops.

    Returns:
      A Tensor [batch].

    Source: contrib/sparsemax/python/ops/sparsemax_loss.py.
    """
    with name_scope(name, "sparsemax_loss", [logits, sparsemax, labels]):
        logits = convert(logits, name="logits")
        sparsemax = convert(sparsemax, name="sparsemax")
        labels = convert(labels, name="labels")
        is_used = logical_or(sparsemax > 0, is_nan(sparsemax))
        gained = sparsemax * (logits - 0.5 * sparsemax)
        gained = where(is_used, gained, zeros_like(sparsemax))
        lost = labels * (0.5 * labels - logits)
        # 0 times inf counts as 0.
        is_unlikely = logical_and(equal(labels, 0), is_inf(logits))
        lost = where(is_unlikely, zeros_like(logits), lost)
        return reduce_sum(gained + lost, axis=1)
