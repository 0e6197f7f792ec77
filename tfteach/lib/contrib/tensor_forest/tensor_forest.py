"""Graphs that train random forests and predict with them.

Source: contrib/tensor_forest/python/tensor_forest.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import float32, int32
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
from tfteach.lib.contrib.tensor_forest.data_ops import (
    Features,
    ForestData,
    data_of,
    labels_of,
)
from tfteach.lib.contrib.tensor_forest.forest_params import (
    ForestHParams,
    build_params_proto,
)
from tfteach.lib.files.saveable_object import SaveableObject, SaveSpec
from tfteach.lib.training.resources import register_resource
from tfteach.ops.array.concat_split import concat, split
from tfteach.ops.array.gather import gather
from tfteach.ops.array.strided_slice import strided_slice
from tfteach.ops.array.where_select import where
from tfteach.ops.core.control_flow_ops import group
from tfteach.ops.core.fill import ones_like
from tfteach.ops.core.identity_reshape import squeeze
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.math.binary import maximum
from tfteach.ops.math.cast import cast
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
        # TensorFlow's, to spread trees on devices
        for i in range(params.num_trees):
            with device(_CPU):
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


class _Tree:
    """Builds the graphs of one tree of a forest."""

    def __init__(
        self, variables: TreeVariables, params: ForestHParams, number: int
    ) -> None:
        self._variables, self._params, self._number = variables, params, number
        self._message = build_params_proto(params).SerializeToString()

    def bagged(self, data: ForestData) -> ForestData:
        """The features that the tree sees.

        Raises:
          NotImplementedError: features are sparse and bagged.
        """
        if self._params.bagged_features is None:
            return data
        if data.dense is None:
            raise NotImplementedError(
                "feature_bagging_fraction with sparse features is not supported: leave "
                "it at 1"
            )
        columns = split(data.dense, self._params.num_features, 1)
        chosen = self._params.bagged_features[self._number]
        return data._replace(dense=concat([columns[i] for i in chosen], 1))

    def training_graph(
        self, data: ForestData, labels: Tensor, seed: int, weights: Any
    ) -> Operation:
        """The op that lets the tree see a batch, and grow."""
        spec, params = data.spec, self._message
        tree, stats = self._variables.tree, self._variables.stats
        weighed = [] if weights is None else weights
        cast([0], int32)  # a node without use, as in TensorFlow's graphs
        leaves = ops.TraverseTreeV4(spec, params)(tree, *data.arguments())
        updated = ops.UpdateModelV4(params)(tree, leaves, labels, weighed)
        finished = ops.ProcessInputV4(seed, spec, params)(
            tree, stats, *data.arguments(), labels, weighed, leaves
        )
        with control_dependencies([updated]):
            return ops.GrowTreeV4(params)(tree, stats, finished)

    def inference_graph(self, data: ForestData) -> tuple[Tensor, Tensor]:
        """What the tree predicts, [examples, outputs], and the paths to leaves."""
        op = ops.TreePredictionsV4(data.spec, self._message)
        predictions, paths = op(self._variables.tree, *data.arguments())
        return predictions, paths


@export("contrib.tensor_forest.python.tensor_forest.RandomForestGraphs")
class RandomForestGraphs:
    """Builds the graphs of a random forest.

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
        self._trees = [
            _Tree(tree, params, number) for number, tree in enumerate(self.variables)
        ]

    def get_all_resource_handles(self) -> list[Tensor]:
        """The handles of all trees, then those of their statistics."""
        stats = [tree.stats for tree in self.variables if tree.stats is not None]
        return [tree.tree for tree in self.variables] + stats

    def training_graph(
        self,
        input_data: Features,
        input_labels: Features,
        num_trainers: int = 1,
        trainer_id: int = 0,
        random_seed: int | None = None,
        input_weights: TensorLike | None = None,
        **tree_kwargs: object,
    ) -> Operation:
        """An op that lets all trees see a batch, and grow.

        Args:
          input_data: float32 Tensor or SparseTensor [examples, features], or a dict of
            Tensors of numbers by names.
          input_labels: Tensor [examples] of classes, or of numbers for regression.
          num_trainers: of how many programs each trains a share of the trees.
          trainer_id: which of them this one is.
          random_seed: of the candidates; other than 0 to repeat a training here.
          input_weights: weights of the examples, [examples].

        Raises:
          NotImplementedError: there are other arguments, or bagged sparse features.
        """
        seed = self.params.base_random_seed if random_seed is None else random_seed
        if tree_kwargs:
            raise NotImplementedError(
                f"Arguments that are not supported: {', '.join(tree_kwargs)}"
            )
        data, labels = data_of(input_data), labels_of(input_labels)
        share = self.params.num_trees // num_trainers
        last = self.params.num_trees
        if trainer_id < num_trainers - 1:
            last = share * (trainer_id + 1)
        grown = []
        for number in range(share * trainer_id, last):
            tree, own_seed = self._trees[number], seed and seed + number
            with device(_CPU):
                bag = (data, labels, input_weights)
                if self.params.bagging_fraction < 1.0:
                    bag = self._drawn(data, labels, input_weights, own_seed)
                rows = tree.bagged(bag[0])
                grown.append(tree.training_graph(rows, bag[1], own_seed, bag[2]))
        return group(*grown, name="train")

    def _drawn(
        self, data: ForestData, labels: Tensor, weights: Any, seed: int
    ) -> tuple[ForestData, Tensor, Any]:
        """Random examples of a batch, with their weights."""
        if data.dense is None:
            raise NotImplementedError(
                "bagging_fraction with sparse features is not supported: leave it at 1"
            )
        size = strided_slice(shape(data.dense), [0], [1])
        drawn: Any = random_uniform(size, seed=seed)
        share: Any = ones_like(drawn) * self.params.bagging_fraction
        kept = squeeze(where(less(drawn, share)), [1])
        rows, classes = gather(data.dense, kept), gather(labels, kept)
        weighed = weights if weights is None else gather(convert(weights), kept)
        return data._replace(dense=rows), classes, weighed

    def inference_graph(
        self, input_data: Features, **inference_args: object
    ) -> tuple[Tensor, Tensor, Tensor]:
        """What the forest predicts.

        Args:
          input_data: see `training_graph`.

        Returns:
          The mean of the trees' predictions [examples, outputs]: probabilities of
          classes, or numbers; paths to leaves, strings [examples, trees], empty without
          `inference_tree_paths`; and the variances of the trees' predictions.

        Raises:
          NotImplementedError: there are other arguments, or bagged sparse features.
        """
        if inference_args:
            raise NotImplementedError(
                f"Arguments that are not supported: {', '.join(inference_args)}"
            )
        data = data_of(input_data)
        found, paths = [], []
        for tree in self._trees:
            with device(_CPU):
                predictions, path = tree.inference_graph(tree.bagged(data))
                found.append(predictions)
                paths.append(path)
        count = float(self.params.num_trees)
        with device(_CPU):
            every = stack(found, axis=1)
            mean = div(reduce_sum(every, 1), count, name="probabilities")
            all_paths = stack(paths, axis=1)
            squares = div(reduce_sum(every * every, 1), count)
            variance = maximum(0.0, squares - mean * mean)
            return mean, all_paths, variance

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
        return reduce_mean(cast(stack(sizes), float32))

    def feature_importances(self) -> Tensor:
        """The share of the splits that read each feature, float64 [features].

        Features of bagged ones are those of each tree, as in TensorFlow.
        """
        message = build_params_proto(self.params).SerializeToString()
        counts = [ops.FeatureUsageCounts(message)(tree.tree) for tree in self.variables]
        total: Any = reduce_sum(stack(counts), 0)
        shares: Tensor = total / reduce_sum(total)
        return shares
