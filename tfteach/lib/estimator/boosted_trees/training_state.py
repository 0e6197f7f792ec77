"""What a training keeps of examples between steps: where they are in the trees.

Source: tensorflow_estimator/python/estimator/canned/boosted_trees.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tfteach.control.cond_v2 import cond_v2
from tfteach.framework.dtypes import float32, int32
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import control_dependencies
from tfteach.lib.estimator.boosted_trees.bucketized_features import (
    bucketized_features,
    column_names,
    transformed_indicators,
)
from tfteach.ops.core.control_flow_ops import group, no_op
from tfteach.ops.core.fill import ones, zeros
from tfteach.ops.core.shape_ops import shape
from tfteach.variables.base import Variable


class TrainingState(NamedTuple):
    """The tree and node that each example reached, and its logits until there."""

    tree_ids: Any
    node_ids: Any
    logits: Any


def local_variable(value: Any, name: str) -> Any:
    """A variable that is not trained."""
    make: Any = Variable  # its metaclass accepts the arguments
    return make(value, trainable=False, name=name, use_resource=True)


def new_state(batch_size: Tensor) -> TrainingState:
    """Examples before the first tree."""
    return TrainingState(
        zeros([batch_size], int32),
        -1 * ones([batch_size], int32),
        zeros([batch_size, 1], float32),
    )


class StateVariables:
    """The state of the examples of a training in memory, in variables."""

    def __init__(self, batch_size: Tensor) -> None:
        self._tree_ids = local_variable(zeros([batch_size], int32), "tree_ids_cache")
        self._node_ids = local_variable(
            -1 * ones([batch_size], int32), "node_ids_cache"
        )
        self._logits = local_variable(zeros([batch_size, 1], float32), "logits_cache")

    def lookup(self) -> TrainingState:
        """The state, as variables."""
        return TrainingState(self._tree_ids, self._node_ids, self._logits)

    def insert(self, tree_ids: Tensor, node_ids: Tensor, logits: Tensor) -> Operation:
        """An op that replaces the state."""
        return group(
            self._tree_ids.assign(tree_ids).op,
            self._node_ids.assign(node_ids).op,
            self._logits.assign(logits).op,
            name="cache_insert",
        )


def cached_features(
    features: Mapping[str, Any],
    columns: Sequence[Any],
    boundaries: Mapping[Any, Tensor],
    batch_size: Tensor,
    are_boundaries_ready: Any,
) -> tuple[list[Tensor], Tensor]:
    """The bucketized features, and what a step waits for that they are cached.

    They are cached until the boundaries are known, as in TensorFlow: later steps
    compute them anew.

    Args:
      features, columns, boundaries: see `bucketized_features`.
      batch_size: an int32 scalar.
      are_boundaries_ready: a bool variable.
    """
    caches = [
        local_variable(zeros([batch_size], int32), f"cached_feature_{i}")
        for i in range(len(column_names(columns)))
    ]
    are_cached = local_variable(False, "are_features_cached")
    indicators = transformed_indicators(features, columns)

    def transform() -> list[Tensor]:
        return bucketized_features(features, columns, boundaries, indicators)

    def computed() -> tuple[list[Tensor], Operation]:
        return transform(), no_op()

    def read() -> tuple[list[Tensor], Operation]:
        done = no_op()
        return [cache.value() for cache in caches], done

    def computed_and_cached() -> tuple[list[Any], Any]:
        found = transform()
        assigned = [c.assign(f) for c, f in zip(caches, found, strict=True)]
        with control_dependencies([a.op for a in assigned]):
            done = are_cached.assign(True)
        return assigned, done

    found, done = cond_v2(
        are_boundaries_ready,
        computed,
        lambda: cond_v2(are_cached, read, computed_and_cached, name="cond"),
        name="cond",
    )
    return list(found), done


def batch_size_of(tensor: Tensor) -> Any:
    """The number of examples, an int32 scalar."""
    return shape(tensor)[0]
