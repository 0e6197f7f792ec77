"""`tf.data.Dataset`.

Source: python/data/ops/dataset_ops.py, DatasetV1.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import Structure
from tfteach.lib.data.base import DatasetBase
from tfteach.lib.data.eager_iterator import IteratorV2
from tfteach.lib.data.groups import Groups
from tfteach.lib.data.iterator import (
    Iterator,
    IteratorBase,
    initializable_iterator,
    one_shot_iterator,
)
from tfteach.lib.data.nesting import Nesting
from tfteach.lib.data.sources import Sources
from tfteach.lib.data.transformations import Transformations


@export("data.Dataset", v2="data.Dataset")
class Dataset(Sources, Transformations, Groups, Nesting):
    """A sequence of elements: nested structures of tensors.

    Static methods, such as `from_tensor_slices` and `range`, make datasets; methods
    such as `map`, `shuffle` and `batch` make datasets of others.

    Example:
      >>> dataset = tf.data.Dataset.range(10).map(lambda x: x * x).batch(4)
      >>> element = dataset.make_one_shot_iterator().get_next()

    Source: python/data/ops/dataset_ops.py.
    """

    def __iter__(self) -> IteratorV2:
        graph = get_default_graph()
        if graph.is_eager or graph.building_function:
            return IteratorV2(self)
        raise RuntimeError(
            "__iter__() is only supported inside of tf.function or when eager "
            "execution is enabled."
        )

    def make_one_shot_iterator(self) -> Iterator | IteratorV2:
        """An iterator that needs no initialization, and cannot restart.

        In an eager program it is `iter(dataset)`.

        Raises:
          ValueError: the dataset depends on a variable, table or placeholder.
        """
        if get_default_graph().is_eager:
            return IteratorV2(self)
        return one_shot_iterator(self)

    def make_initializable_iterator(self, shared_name: str | None = None) -> Iterator:
        """An iterator that starts over whenever its `initializer` is run.

        Args:
          shared_name: a name under which iterators are shared.

        Raises:
          RuntimeError: the program is eager.
        """
        if get_default_graph().is_eager:
            raise RuntimeError(
                "dataset.make_initializable_iterator is not supported when eager "
                "execution is enabled."
            )
        return initializable_iterator(self, shared_name)

    _make_one_shot_iterator = make_one_shot_iterator
    _make_initializable_iterator = make_initializable_iterator


DatasetBase.concrete = Dataset


@export("data.make_one_shot_iterator")
def make_one_shot_iterator(dataset: Dataset) -> Iterator | IteratorV2:
    """See `tf.data.Dataset.make_one_shot_iterator`."""
    return dataset.make_one_shot_iterator()


@export("data.make_initializable_iterator")
def make_initializable_iterator(
    dataset: Dataset, shared_name: str | None = None
) -> Iterator:
    """See `tf.data.Dataset.make_initializable_iterator`."""
    return dataset.make_initializable_iterator(shared_name)


def _checked(value: DatasetBase | IteratorBase) -> Any:
    if not isinstance(value, DatasetBase | IteratorBase):
        raise TypeError(
            "`dataset_or_iterator` must be a Dataset or Iterator object, but got "
            f"{type(value)}."
        )
    return value


@export("data.get_output_types")
def get_output_types(dataset_or_iterator: DatasetBase | IteratorBase) -> Structure:
    """The structure of the element types of a dataset or iterator."""
    return _checked(dataset_or_iterator).output_types


@export("data.get_output_shapes")
def get_output_shapes(
    dataset_or_iterator: DatasetBase | IteratorBase,
) -> Structure:
    """The structure of the static shapes of a dataset or iterator."""
    return _checked(dataset_or_iterator).output_shapes


@export("data.get_output_classes")
def get_output_classes(dataset_or_iterator: DatasetBase | IteratorBase) -> Structure:
    """The structure of the classes of a dataset or iterator."""
    return _checked(dataset_or_iterator).output_classes


@export("data.experimental.get_structure")
def get_structure(dataset_or_iterator: DatasetBase | IteratorBase) -> Structure:
    """The structure of an element, with `tf.TensorSpec` and the like as leaves."""
    return _checked(dataset_or_iterator).element_spec


@export("data.experimental.from_variant")
def from_variant(variant: Tensor, structure: Structure) -> Dataset:
    """The dataset of a variant Tensor, whose elements have this structure of specs."""
    return Dataset(variant, structure)


@export("data.experimental.to_variant")
def to_variant(dataset: DatasetBase) -> Tensor:
    """The variant Tensor of a dataset."""
    return dataset._variant_tensor
