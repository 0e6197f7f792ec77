"""`tf.distribute.ReduceOp`: how per-replica values are combined.

Source: python/distribute/reduce_util.py.
"""

from __future__ import annotations

import enum
from typing import Any

from tfteach.framework.export import export
from tfteach.variables.base import VariableAggregation


@export("distribute.ReduceOp")
class ReduceOp(enum.Enum):
    """How per-replica values are reduced.

    Attributes:
      SUM: they are added.
      MEAN: the sum is divided by their number.

    Source: python/distribute/reduce_util.py.
    """

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation: VariableAggregation) -> ReduceOp:
        """The reduction of a variable's updates.

        Raises:
          ValueError: it reduces nothing.
        """
        found = {
            VariableAggregation.SUM: ReduceOp.SUM,
            VariableAggregation.MEAN: ReduceOp.MEAN,
        }.get(aggregation)
        if found is None:
            raise ValueError(
                f"Could not convert from `tf.VariableAggregation` {aggregation} to"
                "`tf.distribute.ReduceOp` type"
            )
        return found


def as_reduce_op(value: Any) -> ReduceOp:
    """A ReduceOp, or the one with the given name."""
    return ReduceOp(value.upper()) if isinstance(value, str) else value
