"""Graphs that train random forests and predict with them.

Source: contrib/tensor_forest/python/tensor_forest.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import float32, int64
from tfteach.framework.export import export
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import (
    add_to_collection,
    control_dependencies,
    device,
    name_scope,
)
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.contrib.tensor_forest.forest_params import (
    ForestHParams,
    build_params_proto,
)
from tfteach.lib.files.saveable_object import SaveableObject, SaveSpec
from tfteach.lib.training.resources import register_resource
from tfteach.ops.array.gather import gather
from tfteach.ops.array.where_select import where
from tfteach.ops.core.constant import constant
from tfteach.ops.core.control_flow_ops import group
from tfteach.ops.core.identity_reshape import squeeze
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.math.binary import maximum
from tfteach.ops.math.cast import cast, to_float
from tfteach.ops.math.compare import less
from tfteach.ops.math.division import div
from tfteach.ops.math.reduce_functions import reduce_mean, reduce_sum
from tfteach.ops.math.unary import negative
from tfteach.ops.random.random_ops import random_uniform
from tfteach.ops.trees import forest_ops as ops
from tfteach.variables.scope import get_variable

_CPU = "/device:CPU:0"


class TreeVariables:
    """The resources of one tree, which a Saver saves.

    Args:
      params: filled hyperparameters.
      tree_num: the tree's number, which its names end in.
      training: whether it has the statistics that growing needs.
      tree_config: a serialized tree to begin with; "" for a single leaf.
      tree_stat: serialized statistics to begin with.
    """

    def __init__(
        self,
        params: ForestHParams,
        tree_num: int,
        training: bool,
        tree_config: bytes = b"",
        tree_stat: bytes = b"",
    ) -> None:
        self.params = build_params_proto(params).SerializeToString()
        self.stats: Tensor | None = None
        if training:
            with name_scope(f"stats-{tree_num}") as scope:
                handle = ops.FertileStatsResourceHandleOp(shared_name=scope)(name=scope)
                create = ops.CreateFertileStatsVariable(self.params)(handle, tree_stat)
                is_made = ops.FertileStatsIsInitializedOp()(handle)
                register_resource(handle, create, is_made)
                text = ops.FertileStatsSerialize(self.params)(handle)
            kind = ops.FertileStatsDeserialize(self.params)
            _save(handle, create, text, kind)
            self.stats = handle
        with name_scope(f"tree-{tree_num}") as scope:
            handle = ops.DecisionTreeResourceHandleOp(shared_name=scope)(name=scope)
            create = ops.CreateTreeVariable(self.params)(handle, tree_config)
            is_made = ops.TreeIsInitializedOp()(handle)
            register_resource(handle, create, is_made)
            text = ops.TreeSerialize()(handle)
        _save(handle, create, text, ops.TreeDeserialize(self.params))
        self.tree: Tensor = handle


class _ForestSaveable(SaveableObject):
    """A tree, or its statistics, in a checkpoint."""

    create_op: Operation
    deserialize: Any

    def restore(
        self, restored_tensors: Sequence[Tensor], restored_shapes: object
    ) -> Operation:
        """The Operation that replaces the resource."""
        with control_dependencies([self.create_op]):
            made: Operation = self.deserialize(self.op, restored_tensors[0])
            return made


def _save(handle: Tensor, create: Operation, text: Tensor, deserialize: Any) -> None:
    saveable = _ForestSaveable(handle, [SaveSpec(text, "", handle.name)], handle.name)
    saveable.create_op, saveable.deserialize = create, deserialize
    add_to_collection(GraphKeys.SAVEABLE_OBJECTS, saveable)


@export("contrib.tensor_forest.python.tensor_forest.ForestVariables")
class ForestVariables:
    """The resources of all trees of a forest.

    Args:
      params: filled hyperparameters.
      training: whether the trees are to grow.
      tree_configs, tree_stats: serialized trees and statistics to begin with.
    """

    def __init__(
        self,
        params: ForestHParams,
        training: bool = True,
        tree_configs: Sequence[bytes] | None = None,
        tree_stats: Sequence[bytes] | None = None,
    ) -> None:
        for i in range(params.num_trees):  # TensorFlow's, to spread trees on devices
            get_variable(f"device_dummy_{i}", shape=0)
        self.variables = []
        for i in range(params.num_trees):
            with device(_CPU):
                self.variables.append(
                    TreeVariables(
                        params,
                        i,
                        training,
                        tree_configs[i] if tree_configs else b"",
                        tree_stats[i] if tree_stats else b"",
                    )
                )

    def __getitem__(self, index: int) -> TreeVariables:
        return self.variables[index]

    def __iter__(self) -> Iterator[TreeVariables]:
        return iter(self.variables)


@export("contrib.tensor_forest.python.tensor_forest.RandomForestGraphs")
class RandomForestGraphs:
    """Builds the graphs of a random forest of classifiers.

    Trees grow while they see examples, as TensorFlow's do.  These choose candidates at
    random and differ from run to run, also with seeds; so do ours, and their numbers
    are not TensorFlow's: their accuracy is comparable.

    Args:
      params: filled `ForestHParams`.
      tree_configs, tree_stats: serialized trees and statistics to begin with.
      variables: a `ForestVariables`; made if None.
      training: whether the trees are to grow.

    Raises:
      NotImplementedError: another argument is given.

    Example:
      >>> from tensorflow.contrib.tensor_forest.python import tensor_forest
      >>> forest = tensor_forest.RandomForestGraphs(params)
      >>> train_op = forest.training_graph(x, y)
      >>> loss_op = forest.training_loss(x, y)
      >>> probabilities, _, _ = forest.inference_graph(x)

    Source: contrib/tensor_forest/python/tensor_forest.py.
    """

    def __init__(
        self,
        params: ForestHParams,
        tree_configs: Sequence[bytes] | None = None,
        tree_stats: Sequence[bytes] | None = None,
        device_assigner: None = None,
        variables: ForestVariables | None = None,
        tree_variables_class: type[TreeVariables] = TreeVariables,
        tree_graphs: None = None,
        training: bool = True,
    ) -> None:
        if device_assigner is not None or tree_graphs is not None:
            raise NotImplementedError(
                "device_assigner and tree_graphs are not supported: leave them out"
            )
        if tree_variables_class is not TreeVariables:
            raise NotImplementedError(
                "tree_variables_class is not supported: leave it out"
            )
        self.params = params
        self.variables = variables or ForestVariables(
            params, training, tree_configs, tree_stats
        )
        self._message = build_params_proto(params).SerializeToString()

    def _bagged(self, tree: int, data: Tensor) -> Tensor:
        """The features that a tree sees."""
        chosen = self.params.bagged_features
        return data if chosen is None else gather(data, chosen[tree], axis=1)

    def _input_spec(self) -> str:
        size = self.params.bagged_num_features
        return (
            f"dense_features_size: {size} dense: [{{name: dense_features "
            f"original_type: 0 size: {size}}}] sparse: []"
        )

    def _inputs(self, data: Tensor) -> tuple[Any, ...]:
        """The data, and sparse inputs without elements."""
        empty = constant([], dtype=int64)
        return data, empty, constant([], dtype=float32), empty

    def training_graph(
        self,
        input_data: TensorLike,
        input_labels: TensorLike,
        num_trainers: int = 1,
        trainer_id: int = 0,
        random_seed: int | None = None,
        input_weights: TensorLike | None = None,
        **tree_kwargs: object,
    ) -> Operation:
        """An op that lets all trees see a batch, and grow.

        Args:
          input_data: float32 Tensor [examples, features].
          input_labels: Tensor [examples] of classes.
          num_trainers: 1.
          trainer_id: 0.
          random_seed: of the candidates; other than 0 to repeat a training here.
          input_weights: weights of the examples, [examples].

        Raises:
          NotImplementedError: there are several trainers, or other arguments.
        """
        if (num_trainers, trainer_id) != (1, 0):
            raise NotImplementedError("Several trainers are not supported")
        seed = self.params.base_random_seed if random_seed is None else random_seed
        weights = input_weights
        if tree_kwargs:
            raise NotImplementedError(
                f"Arguments that are not supported: {', '.join(tree_kwargs)}"
            )
        data, labels = to_float(convert(input_data)), to_float(convert(input_labels))
        given = constant([], dtype=float32) if weights is None else convert(weights)
        grown = []
        for number, tree in enumerate(self.variables):
            with device(_CPU):
                rows, classes, weighed = data, labels, given
                if self.params.bagging_fraction < 1.0:
                    size = shape(data)[:1]
                    drawn = less(random_uniform(size), self.params.bagging_fraction)
                    kept = squeeze(where(drawn), [1])
                    rows, classes = gather(data, kept), gather(labels, kept)
                    weighed = given if weights is None else gather(given, kept)
                inputs = self._inputs(self._bagged(number, rows))
                grown.append(self._grow(tree, inputs, classes, weighed, seed))
        return group(*grown, name="train")

    def _grow(
        self,
        tree: TreeVariables,
        inputs: tuple[Any, ...],
        labels: Tensor,
        weights: Tensor,
        seed: int,
    ) -> Operation:
        spec, params = self._input_spec(), self._message
        leaves = ops.TraverseTreeV4(spec, params)(tree.tree, *inputs)
        updated = ops.UpdateModelV4(params)(tree.tree, leaves, labels, weights)
        finished = ops.ProcessInputV4(seed, spec, params)(
            tree.tree, tree.stats, *inputs, labels, weights, leaves
        )
        with control_dependencies([updated]):
            return ops.GrowTreeV4(params)(tree.tree, tree.stats, finished)

    def inference_graph(
        self, input_data: TensorLike, **inference_args: object
    ) -> tuple[Tensor, Tensor, Tensor]:
        """What the forest predicts.

        Args:
          input_data: float32 Tensor [examples, features].

        Returns:
          The classes' probabilities [examples, classes], the mean of the trees'; empty
          paths, strings; and the variances of the trees' probabilities.

        Raises:
          NotImplementedError: there are other arguments.
        """
        if inference_args:
            raise NotImplementedError(
                f"Arguments that are not supported: {', '.join(inference_args)}"
            )
        data = to_float(convert(input_data))
        found, paths = [], []
        op = ops.TreePredictionsV4(self._input_spec(), self._message)
        for number, tree in enumerate(self.variables):
            with device(_CPU):
                inputs = self._inputs(self._bagged(number, data))
                predictions, path = op(tree.tree, *inputs)
                found.append(predictions)
                paths.append(path)
        count = float(self.params.num_trees)
        with device(_CPU):
            every = stack(found)
            mean = div(reduce_sum(every, 0), count, name="probabilities")
            squares = reduce_sum(every * every, 0) / count
            variance = maximum(0.0, squares - mean * mean)
            return mean, stack(paths, axis=1), variance

    def training_loss(
        self, features: object, labels: object, name: str = "training_loss"
    ) -> Tensor:
        """The negative mean number of nodes: a float32 scalar that falls."""
        return negative(self.average_size(), name=name)

    def validation_loss(self, features: object, labels: object) -> Tensor:
        """The same as `training_loss`."""
        return negative(self.average_size())

    def average_size(self) -> Tensor:
        """The mean number of nodes of a tree, a float32 scalar."""
        sizes = []
        for tree in self.variables:
            with device(_CPU):
                sizes.append(ops.TreeSize()(tree.tree))
        return reduce_mean(to_float(stack(sizes)))

    def feature_importances(self) -> Tensor:
        """The share of the splits that read each feature, [features].

        Raises:
          NotImplementedError: each tree sees other features.
        """
        if self.params.bagged_features is not None:
            raise NotImplementedError(
                "Importances of bagged features are not supported: leave "
                "feature_bagging_fraction at 1"
            )
        counts = [
            ops.FeatureUsageCounts(self._message)(tree.tree) for tree in self.variables
        ]
        total = reduce_sum(stack(counts), 0)
        return cast(total, float32) / maximum(to_float(reduce_sum(total)), 1.0)
