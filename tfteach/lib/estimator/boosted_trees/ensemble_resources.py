"""Ensembles and quantiles as objects of a program, which a Saver saves.

Source: python/ops/boosted_trees_ops.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import (
    add_to_collection,
    control_dependencies,
    name_scope,
)
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.files.saveable_object import SaveableObject, SaveSpec
from tfteach.lib.training.resources import register_resource
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.trees.ensemble_ops import (
    BoostedTreesCreateEnsemble,
    BoostedTreesDeserializeEnsemble,
    BoostedTreesEnsembleResourceHandleOp,
    BoostedTreesGetEnsembleStates,
    BoostedTreesSerializeEnsemble,
    IsBoostedTreesEnsembleInitialized,
)
from tfteach.ops.trees.quantile_ops import (
    BoostedTreesCreateQuantileStreamResource,
    BoostedTreesMakeQuantileSummaries,
    BoostedTreesQuantileStreamResourceAddSummaries,
    BoostedTreesQuantileStreamResourceDeserialize,
    BoostedTreesQuantileStreamResourceFlush,
    BoostedTreesQuantileStreamResourceGetBucketBoundaries,
    BoostedTreesQuantileStreamResourceHandleOp,
    IsBoostedTreesQuantileStreamResourceInitialized,
)


class EnsembleStates(NamedTuple):
    """How far an ensemble has grown; see `BoostedTreesGetEnsembleStates`."""

    stamp_token: Tensor
    num_trees: Tensor
    num_finalized_trees: Tensor
    num_attempted_layers: Tensor
    last_layer_nodes_range: Tensor


class SerializedEnsemble(NamedTuple):
    """An ensemble as bytes; see `BoostedTreesSerializeEnsemble`."""

    stamp_token: Tensor
    tree_ensemble_serialized: Tensor


class PruningMode:
    """How trees are pruned, as the ops have it.

    Source: python/ops/boosted_trees_ops.py, PruningMode.
    """

    NO_PRUNING, PRE_PRUNING, POST_PRUNING = range(3)
    _BY_NAME: ClassVar[dict[str, int]] = {
        "none": NO_PRUNING, "pre": PRE_PRUNING, "post": POST_PRUNING
    }  # fmt: skip

    @classmethod
    def from_str(cls, mode: str) -> int:
        """The number of "none", "pre" or "post".

        Raises:
          ValueError: it is none of them.
        """
        if mode not in cls._BY_NAME:
            known = ", ".join(sorted(cls._BY_NAME))
            raise ValueError(f"pruning_mode mode must be one of: {known}")
        return cls._BY_NAME[mode]


class TreeEnsemble:
    """An ensemble of trees, which the session's initialization creates.

    Args:
      name: of the handle's op, by which it is also shared.
      stamp_token: its version at the start.
      is_local: whether the session's local initialization creates it.
      serialized_proto: its trees at the start, a `TreeEnsemble` message's bytes.

    Source: python/ops/boosted_trees_ops.py, TreeEnsemble.
    """

    def __init__(
        self,
        name: str,
        stamp_token: int = 0,
        is_local: bool = False,
        serialized_proto: str | bytes = b"",
    ) -> None:
        with name_scope(name, "TreeEnsemble") as scope:
            op = BoostedTreesEnsembleResourceHandleOp(shared_name=scope)
            self.resource_handle: Tensor = op(name=scope)
            create = BoostedTreesCreateEnsemble()(
                self.resource_handle,
                stamp_token,
                serialized_proto,
                name="BoostedTreesCreateEnsemble",
            )
            self.initializer: Operation = create
            register_resource(
                self.resource_handle, create, self.is_initialized(), not is_local
            )
            stamp, serialized = BoostedTreesSerializeEnsemble()(self.resource_handle)
        name = self.resource_handle.name
        specs = [
            SaveSpec(stamp, "", f"{name}_stamp"),
            SaveSpec(serialized, "", f"{name}_serialized"),
        ]
        saveable = _EnsembleSaveable(self.resource_handle, specs, name)
        saveable.create_op = create
        add_to_collection(GraphKeys.SAVEABLE_OBJECTS, saveable)

    def is_initialized(self) -> Tensor:
        """A bool scalar: whether the session has the ensemble."""
        return IsBoostedTreesEnsembleInitialized()(self.resource_handle)

    def get_stamp_token(self) -> Tensor:
        """The version, an int64 scalar: each update of the ensemble increments it."""
        stamp: Tensor = BoostedTreesGetEnsembleStates()(self.resource_handle)[0]
        return stamp

    def serialize(self) -> SerializedEnsemble:
        """The version and the bytes of a `TreeEnsemble` message."""
        return SerializedEnsemble(
            *BoostedTreesSerializeEnsemble()(self.resource_handle)
        )

    def deserialize(
        self, stamp_token: TensorLike, serialized_proto: TensorLike
    ) -> Operation:
        """The Operation that replaces the ensemble."""
        op = BoostedTreesDeserializeEnsemble()
        return op(self.resource_handle, stamp_token, serialized_proto)

    def get_states(self) -> EnsembleStates:
        """Tensors of the state, read by each run."""
        found = BoostedTreesGetEnsembleStates()(self.resource_handle)
        return EnsembleStates(
            *(
                identity(state, name=name)
                for state, name in zip(found, EnsembleStates._fields, strict=True)
            )
        )


class _EnsembleSaveable(SaveableObject):
    """An ensemble's stamp token and message, in a checkpoint."""

    create_op: Operation

    def restore(
        self, restored_tensors: Sequence[Tensor], restored_shapes: Any
    ) -> Operation:
        """The Operation that replaces the ensemble."""
        with control_dependencies([self.create_op]):
            stamp, serialized = restored_tensors
            return BoostedTreesDeserializeEnsemble()(self.op, stamp, serialized)


class QuantileAccumulator:
    """Quantiles of several features, which become boundaries of buckets.

    Args:
      epsilon: the error of ranks, as a fraction of the number of values.
      num_streams: the number of features.
      num_quantiles: the number of buckets of each feature.
      name: of the handle's op, by which it is also shared.
      max_elements: how many values the bounds of the error assume at most.

    Source: python/ops/boosted_trees_ops.py, QuantileAccumulator.
    """

    def __init__(
        self,
        epsilon: float,
        num_streams: int,
        num_quantiles: int,
        name: str | None = None,
        max_elements: int | None = None,
    ) -> None:
        self._epsilon, self._num_streams = epsilon, num_streams
        self._num_quantiles = num_quantiles
        with name_scope(name, "QuantileAccumulator") as scope:
            op = BoostedTreesQuantileStreamResourceHandleOp(shared_name=scope)
            self.resource_handle: Tensor = op(name=scope)
            limits = {} if max_elements is None else {"max_elements": max_elements}
            create = BoostedTreesCreateQuantileStreamResource(**limits)(
                self.resource_handle, epsilon, num_streams
            )
            self.initializer: Operation = create
            register_resource(self.resource_handle, create, self.is_initialized())
        name = self.resource_handle.name
        specs = [
            SaveSpec(limits, "", f"{name}_bucket_boundaries_{i}")
            for i, limits in enumerate(self.get_bucket_boundaries())
        ]
        saveable = _QuantilesSaveable(self.resource_handle, specs, name)
        saveable.create_op = create
        self.saveable: SaveableObject = saveable
        add_to_collection(GraphKeys.SAVEABLE_OBJECTS, saveable)

    def is_initialized(self) -> Tensor:
        """A bool scalar: whether the session has the quantiles."""
        op = IsBoostedTreesQuantileStreamResourceInitialized()
        return op(self.resource_handle)

    def get_bucket_boundaries(self) -> list[Tensor]:
        """The boundaries of each feature: float32 vectors, empty until `flush`."""
        op = BoostedTreesQuantileStreamResourceGetBucketBoundaries(self._num_streams)
        return op(self.resource_handle)

    def add_summaries(
        self, float_columns: list[Tensor], example_weights: Tensor
    ) -> Operation:
        """An op that adds a batch of values."""
        count = self._num_streams
        summaries = BoostedTreesMakeQuantileSummaries(count)(
            float_columns, example_weights, self._epsilon
        )
        op = BoostedTreesQuantileStreamResourceAddSummaries(count)
        return op(self.resource_handle, summaries)

    def flush(self) -> Operation:
        """An op that turns what was added into boundaries."""
        op = BoostedTreesQuantileStreamResourceFlush()
        return op(self.resource_handle, self._num_quantiles)


class _QuantilesSaveable(SaveableObject):
    """The boundaries of all features, in a checkpoint."""

    create_op: Operation

    def restore(
        self, restored_tensors: Sequence[Tensor], restored_shapes: Any
    ) -> Operation:
        """The Operation that replaces the boundaries."""
        with control_dependencies([self.create_op]):
            op = BoostedTreesQuantileStreamResourceDeserialize(len(restored_tensors))
            return op(self.op, list(restored_tensors))
