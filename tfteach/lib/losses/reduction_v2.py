"""How the losses of Keras and the heads of `tf.estimator` reduce to a scalar.

Source: python/ops/losses/loss_reduction.py (ReductionV2).
"""

from __future__ import annotations

from typing import Any


class ReductionV2:
    """Reduction of a loss over its elements.

    Attributes:
      AUTO: SUM_OVER_BATCH_SIZE, in most cases.
      NONE: no reduction: the element-wise weighted losses.
      SUM: their sum.
      SUM_OVER_BATCH_SIZE: their sum divided by their number.
    """

    AUTO = "auto"
    NONE = "none"
    SUM = "sum"
    SUM_OVER_BATCH_SIZE = "sum_over_batch_size"

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """All reductions."""
        return (cls.AUTO, cls.NONE, cls.SUM, cls.SUM_OVER_BATCH_SIZE)

    @classmethod
    def validate(cls, key: Any) -> None:
        """Raise ValueError if `key` is not a reduction."""
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}.")
