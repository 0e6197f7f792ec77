"""How datasets are made: the static methods of `tf.data.Dataset`.

Source: python/data/ops/dataset_ops.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tfteach.control.case import Assert
from tfteach.framework.convert import convert
from tfteach.framework.dimension import Dimension
from tfteach.framework.dtypes import int64, string
from tfteach.framework.scope import control_dependencies, name_scope
from tfteach.framework.tensor_spec import TensorSpec
from tfteach.framework.type_aliases import DTypeLike, Nested, ShapeLike, TensorLike
from tfteach.lib.data import structures
from tfteach.lib.data.base import DatasetBase, int64_tensor
from tfteach.lib.data.generators import from_generator
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.data.selection import ZipDataset
from tfteach.ops.data.sources import (
    RangeDataset,
    SparseTensorSliceDataset,
    TensorDataset,
    TensorSliceDataset,
)
from tfteach.ops.io.file_ops import matching_files
from tfteach.ops.math.binary import add, maximum
from tfteach.ops.math.compare import greater
from tfteach.ops.text.string_split import reduce_join

if TYPE_CHECKING:
    from tfteach.lib.data.dataset import Dataset


class Sources(DatasetBase):
    """The methods that make datasets of tensors and of other datasets."""

    @staticmethod
    def from_tensors(tensors: Any) -> Dataset:
        """A dataset of one element.

        Args:
          tensors: a nested structure (tuples, named tuples, dicts) of values.

        Example:
          >>> tf.data.Dataset.from_tensors([1, 2])
          <DatasetV1Adapter shapes: (2,), types: tf.int32>
        """
        element = structures.normalized(tensors)
        specs = structures.specs_of(element)
        op = TensorDataset(structures.flat_shapes(specs))
        variant = op(structures.to_tensors(specs, element))
        return DatasetBase.concrete(variant, specs)

    @staticmethod
    def from_tensor_slices(tensors: Any) -> Dataset:
        """A dataset of the slices of tensors along their first axis.

        Args:
          tensors: a nested structure (tuples, named tuples, dicts) of values of the
            same first size.

        Raises:
          ValueError: the first sizes differ, or a value is a scalar.

        Example:
          >>> tf.data.Dataset.from_tensor_slices(([1, 2], ["a", "b"]))
          <DatasetV1Adapter shapes: ((), ()), types: (tf.int32, tf.string)>
        """
        element = structures.normalized(tensors)
        batched = structures.specs_of(element)
        flat = structures.to_batched_tensors(batched, element)
        specs = structures.mapped(lambda spec: spec._unbatch(), batched)
        first = flat[0].shape.dims
        size = Dimension(None) if first is None else first[0]
        for tensor in flat[1:]:
            dims = tensor.shape.dims
            size.assert_is_compatible_with(Dimension(None) if dims is None else dims[0])
        variant = TensorSliceDataset(structures.flat_shapes(specs))(flat)
        return DatasetBase.concrete(variant, specs)

    @staticmethod
    def from_sparse_tensor_slices(sparse_tensor: Any) -> Dataset:
        """A dataset of the rows of a SparseTensor: indices, values and shape of each.

        Args:
          sparse_tensor: a SparseTensor of rank 2 or more, in row-major order.

        Raises:
          TypeError: it is no SparseTensor.
        """
        if not isinstance(sparse_tensor, SparseTensor):
            raise TypeError(
                "`sparse_tensor` must be a `tf.SparseTensor` object. Was "
                f"{sparse_tensor}."
            )
        columns = sparse_tensor.indices.shape.dims
        sizes = sparse_tensor.dense_shape.shape.dims
        assert columns is not None
        assert sizes is not None
        rank = (columns[1] - 1).merge_with(sizes[0] - 1)
        specs = (
            TensorSpec([None, rank], int64),
            TensorSpec([None], sparse_tensor.dtype),
            TensorSpec([rank], int64),
        )
        variant = SparseTensorSliceDataset()(
            sparse_tensor.indices, sparse_tensor.values, sparse_tensor.dense_shape
        )
        return DatasetBase.concrete(variant, specs)

    @staticmethod
    def from_generator(
        generator: Callable[..., Iterable[Any]],
        output_types: Nested[DTypeLike],
        output_shapes: Nested[ShapeLike | None] = None,
        args: Sequence[TensorLike] | None = None,
    ) -> Dataset:
        """A dataset of what a Python generator yields.

        Args:
          generator: a function that returns an iterable; called for each epoch.
          output_types: the structure of the element types.
          output_shapes: the structure of the static shapes; unknown ones if None.
          args: tensors, whose values the function receives.

        Raises:
          TypeError: `generator` cannot be called.
          tf.errors.InvalidArgumentError: in a run, an element has another structure,
            type or shape.

        Example:
          >>> tf.data.Dataset.from_generator(lambda: iter(range(9)), tf.int64, [])
          <DatasetV1Adapter shapes: (), types: tf.int64>
        """
        return from_generator(generator, output_types, output_shapes, args)

    @staticmethod
    def list_files(
        file_pattern: TensorLike,
        shuffle: bool | None = None,
        seed: TensorLike | None = None,
    ) -> Dataset:
        """A dataset of the names of files that match a pattern.

        Args:
          file_pattern: a string or a vector of strings, such as "data/*.csv".
          shuffle: False for the order of the names.
          seed: with `tf.set_random_seed`, determines the order.

        Raises:
          tf.errors.InvalidArgumentError: in a run, no file matches.
        """
        with name_scope("list_files"):
            pattern = convert(file_pattern, string, "file_pattern")
            found = matching_files(pattern)
            is_found = greater(shape(found)[0], 0, name="match_not_empty")
            message = add(
                "No files matched pattern: ",
                reduce_join(pattern, separator=", "),
                name="message",
            )
            check = Assert(is_found, [message], summarize=1, name="assert_not_empty")
            with control_dependencies([check]):
                names = identity(found)
            dataset = DatasetBase.concrete.from_tensor_slices(names)
            if shuffle is None or shuffle:
                size = maximum(shape(names, out_type=int64)[0], 1)
                dataset = dataset.shuffle(size, seed=seed)
            return dataset

    @staticmethod
    def range(*args: TensorLike) -> Dataset:
        """A dataset of int64 numbers: `range(stop)`, `(start, stop)`, with a `step`.

        Raises:
          ValueError: not 1 to 3 arguments.
          tf.errors.InvalidArgumentError: in a run, the step is 0.

        Example:
          >>> tf.data.Dataset.range(1, 10, 3)  # 1, 4, 7
          <DatasetV1Adapter shapes: (), types: tf.int64>
        """
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Invalid arguments to RangeDataset: {args}")
        start, stop = (0, args[0]) if len(args) == 1 else args[:2]
        step = args[2] if len(args) == 3 else 1
        numbers = (
            int64_tensor(start, "start"),
            int64_tensor(stop, "stop"),
            int64_tensor(step, "step"),
        )
        spec = TensorSpec([], int64)
        variant = RangeDataset((int64,), ((),))(*numbers)
        return DatasetBase.concrete(variant, spec)

    @staticmethod
    def zip(datasets: Any) -> Dataset:
        """A dataset whose elements are structures of those of several datasets.

        It ends with the shortest of them.

        Args:
          datasets: a nested structure (tuples, dicts) of datasets.

        Raises:
          TypeError: a leaf is no dataset, or a list.
        """
        flat = structures.flatten(datasets)
        for dataset in flat:
            if not isinstance(dataset, DatasetBase):
                message = (
                    "The argument to `Dataset.zip()` must be a nested structure of "
                    "`Dataset` objects."
                )
                if isinstance(dataset, list):
                    message += (
                        " Nested structures do not support Python lists; please use a "
                        "tuple instead."
                    )
                raise TypeError(message)
        specs = structures.pack(datasets, [d.element_spec for d in flat])
        types, shapes = structures.flat_types(specs), structures.flat_shapes(specs)
        variant = ZipDataset(types, shapes)([d._variant_tensor for d in flat])
        return DatasetBase.concrete(variant, specs, flat)
