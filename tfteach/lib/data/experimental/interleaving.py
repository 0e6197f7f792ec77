"""Interleaving: elements of several datasets in rotation, as chosen, or at random.

Source: python/data/experimental/ops/interleave_ops.py, data/ops/readers.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import bool_, float32, float64, int64
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.tensor_spec import TensorSpec
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.data import structures
from tfteach.lib.data.base import DatasetBase, int64_tensor
from tfteach.lib.data.dataset import Dataset
from tfteach.lib.data.experimental.sources import RandomDataset
from tfteach.lib.data.functions import StructuredFunction
from tfteach.lib.data.nesting import dataset_function
from tfteach.ops.core.constant import constant
from tfteach.ops.core.identity_reshape import expand_dims, squeeze
from tfteach.ops.data.flattening import DirectedInterleaveDataset
from tfteach.ops.data.interleaving import ParallelInterleaveDataset
from tfteach.ops.data.mapping import MapDataset
from tfteach.ops.math.exponential import log
from tfteach.ops.random.stateless_random import StatelessMultinomial

Transformation = Callable[[Dataset], Dataset]


@export("data.experimental.parallel_interleave", "contrib.data.parallel_interleave")
def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: TensorLike,
    block_length: int = 1,
    sloppy: TensorLike = False,
    buffer_output_elements: TensorLike | None = None,
    prefetch_input_elements: TensorLike | None = None,
) -> Transformation:
    """A transformation: elements of datasets that a function returns, by turns.

    Args:
      map_func: accepts an element; returns a dataset.
      cycle_length: the number of datasets that take turns.
      block_length: the number of consecutive elements of each.
      sloppy: whether a dataset without an element that is ready is passed over.
      buffer_output_elements: the number of elements to prepare of each dataset.
      prefetch_input_elements: the number of further datasets to prepare, at least 0;
        checked, but without effect: only those that take turns are prepared.

    Returns:
      A function for `Dataset.apply`.
    """

    def transform(dataset: Dataset) -> Dataset:
        name = "tf.data.experimental.parallel_interleave()"
        function, specs = dataset_function(map_func, name, dataset)
        types, shapes = structures.flat_types(specs), structures.flat_shapes(specs)
        op = ParallelInterleaveDataset(function.attribute, types, shapes)
        variant = op(
            dataset._variant_tensor,
            function.captured_inputs,
            int64_tensor(cycle_length, "cycle_length"),
            int64_tensor(block_length, "block_length"),
            convert(sloppy, bool_, "sloppy"),
            _or_default(
                buffer_output_elements, "buffer_output_elements", 2 * block_length
            ),
            _or_default(
                prefetch_input_elements, "prefetch_input_elements", _twice(cycle_length)
            ),
        )
        return dataset.derived(variant, specs, function)

    return transform


def _twice(value: Any) -> Any:
    return 2 * value


def _or_default(value: TensorLike | None, name: str, default: Any) -> Tensor:
    if value is None:
        return constant(default, int64, name=name)
    return int64_tensor(value, name)


@export("contrib.data.sloppy_interleave")
def sloppy_interleave(
    map_func: Callable[..., Any], cycle_length: TensorLike, block_length: int = 1
) -> Transformation:
    """See `tf.data.experimental.parallel_interleave`, with `sloppy=True`."""
    return parallel_interleave(map_func, cycle_length, block_length, sloppy=True)


def _directed(selector: DatasetBase, datasets: Sequence[DatasetBase]) -> Dataset:
    first = datasets[0]
    specs = first.element_spec
    for other in datasets[1:]:
        if (other.output_types, other.output_classes) != (
            first.output_types,
            first.output_classes,
        ):
            raise TypeError("All datasets must have the same type and class.")
        specs = structures.merged(specs, other.element_spec)
    types, shapes = structures.flat_types(specs), structures.flat_shapes(specs)
    variants = [dataset._variant_tensor for dataset in datasets]
    variant = DirectedInterleaveDataset(types, shapes)(
        selector._variant_tensor, variants
    )
    return Dataset(variant, specs, [selector, *datasets])


@export(
    "data.experimental.choose_from_datasets",
    "contrib.data.choose_from_datasets",
    v2="data.experimental.choose_from_datasets",
)
def choose_from_datasets(
    datasets: Sequence[DatasetBase], choice_dataset: DatasetBase
) -> Dataset:
    """Elements of datasets in the order that another dataset determines.

    Args:
      datasets: with elements of the same structure.
      choice_dataset: of int64 scalars, numbers of datasets.

    Raises:
      TypeError: the elements differ, or are no numbers.
    """
    spec = choice_dataset.element_spec
    if not isinstance(spec, TensorSpec) or not spec.is_compatible_with(
        TensorSpec([], int64)
    ):
        raise TypeError(
            "`choice_dataset` must be a dataset of scalar `tf.int64` tensors."
        )
    return _directed(choice_dataset, datasets)


@export(
    "data.experimental.sample_from_datasets",
    "contrib.data.sample_from_datasets",
    v2="data.experimental.sample_from_datasets",
)
def sample_from_datasets(
    datasets: Sequence[Dataset],
    weights: TensorLike | DatasetBase | None = None,
    seed: TensorLike | None = None,
) -> Dataset:
    """Elements of datasets drawn by lot.

    Args:
      datasets: with elements of the same structure.
      weights: a probability for each dataset, or a dataset of such vectors; equal ones
        if None.
      seed: with `tf.set_random_seed`, determines the choice.

    Raises:
      TypeError: the elements differ, or the weights are no floats.
      ValueError: not one weight for each dataset.
    """
    if isinstance(weights, Dataset):
        logits_of = weights.map(lambda *p: log(p, name="logits"))
        seeds = Dataset.zip((logits_of, RandomDataset(seed).batch(2)))

        def varying(logits: Tensor, own_seed: Tensor) -> Tensor:
            return _drawn(logits, own_seed)

        return _directed(_selector(seeds, varying), datasets)
    logits: Any = [[1.0] * len(datasets)]
    if weights is not None:
        found = convert(weights, name="weights")
        if found.dtype not in (float32, float64):
            raise TypeError(
                "`weights` must be convertible to a tensor of `tf.float32` or "
                "`tf.float64` elements."
            )
        if not found.shape.is_compatible_with([len(datasets)]):
            raise ValueError("`weights` must be a vector of length `len(datasets)`.")
        logits = expand_dims(log(found, name="logits"), 0)
    if len(datasets) == 1:
        return datasets[0]

    def select_dataset_constant_logits(seed: Tensor) -> Tensor:
        return _drawn(logits, seed)

    selector = _selector(RandomDataset(seed).batch(2), select_dataset_constant_logits)
    return _directed(selector, datasets)


def _drawn(logits: TensorLike, seed: Tensor) -> Tensor:
    return squeeze(StatelessMultinomial(int64)(logits, 1, seed), axis=[0, 1])


def _selector(source: Dataset, function: Callable[..., Tensor]) -> Dataset:
    made = StructuredFunction(function, "Dataset.map()", source.element_spec)
    op = MapDataset(made.attribute, *made.flat, use_inter_op_parallelism=False)
    variant = op(source._variant_tensor, made.captured_inputs)
    return source.derived(variant, made.output_specs, made)
