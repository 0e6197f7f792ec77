"""Datasets of batches and windows, and back.

Source: python/data/ops/dataset_ops.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tfteach.framework.constant_values import constant_value
from tfteach.framework.convert import convert
from tfteach.framework.dimension import Dimension
from tfteach.framework.dtypes import DType, bool_, string
from tfteach.framework.dtypes import variant as variant_type
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.framework.tensor_spec import TensorSpec
from tfteach.framework.type_aliases import Structure, TensorLike
from tfteach.lib.data import structures
from tfteach.lib.data.base import DatasetBase, int64_tensor
from tfteach.lib.data.convert import shape_tensor
from tfteach.lib.data.element_specs import DatasetSpec
from tfteach.ops.core.stack_unstack import Pack
from tfteach.ops.data.batching import BatchDatasetV2
from tfteach.ops.data.flattening import UnbatchDataset
from tfteach.ops.data.grouping import WindowDataset
from tfteach.ops.data.padding import PaddedBatchDatasetV2
from tfteach.ops.sparse.sparse_tensor_spec import SparseTensorSpec

if TYPE_CHECKING:
    from tfteach.lib.data.dataset import Dataset


class Groups(DatasetBase):
    """The methods that make one element of several, and several of one."""

    map: Callable[..., Dataset]

    def batch(
        self, batch_size: TensorLike, drop_remainder: TensorLike = False
    ) -> Dataset:
        """Consecutive elements, stacked along a new first axis.

        Args:
          batch_size: the number of elements in a batch.
          drop_remainder: whether to omit a smaller batch at the end; if it is a
            constant True, the static shapes have the size.

        Raises:
          tf.errors.InvalidArgumentError: in a run, shapes of the elements differ, or
            the size is not positive.
        """
        size = int64_tensor(batch_size, "batch_size")
        drops = convert(drop_remainder, bool_, "drop_remainder")
        known = constant_value(size) if constant_value(drops) else None
        count = None if known is None else int(known)
        specs = structures.mapped(lambda spec: spec._batch(count), self.element_spec)
        types, shapes = structures.flat_types(specs), structures.flat_shapes(specs)
        op = BatchDatasetV2(False, types, shapes)
        return self.derived(op(self._variant_tensor, size, drops), specs)

    def padded_batch(
        self,
        batch_size: TensorLike,
        padded_shapes: Structure,
        padding_values: Structure = None,
        drop_remainder: TensorLike = False,
    ) -> Dataset:
        """Consecutive elements, padded at their ends to equal shapes and stacked.

        Args:
          batch_size: the number of elements in a batch.
          padded_shapes: a structure of shapes like an element; a size that is None or
            -1 is the largest one in the batch.
          padding_values: a structure of scalars like an element; 0 and "" if None.
          drop_remainder: whether to omit a smaller batch at the end.

        Raises:
          ValueError: a padded shape does not fit the elements' static shape, or a
            padding value is no scalar.
          TypeError: the elements are sparse, or the type of a padding value differs.
          tf.errors.DataLossError: in a run, an element is larger than a padded shape.
        """
        flat = structures.flatten(self.element_spec)
        if any(isinstance(spec, SparseTensorSpec) for spec in flat):
            raise TypeError(
                "Batching of padded sparse tensors is not currently supported"
            )
        size = int64_tensor(batch_size, "batch_size")
        if padding_values is None:
            values = [_zero(spec.flat_types[0]) for spec in flat]
        else:
            values = structures.leaves_up_to(self.element_spec, padding_values)
        given = structures.leaves_up_to(self.element_spec, padded_shapes)
        pairs = zip(given, flat, strict=True)
        sizes = [_padded_shape(shape, spec.flat_shapes[0]) for shape, spec in pairs]
        pads = [
            _padding_value(value, spec.flat_types[0])
            for value, spec in zip(values, flat, strict=True)
        ]
        drops = convert(drop_remainder, bool_, "drop_remainder")
        known = constant_value(size) if constant_value(drops) else None
        count = None if known is None else int(known)
        specs = structures.pack(
            self.element_spec,
            [
                TensorSpec(
                    TensorShape([count]).concatenate(_known_shape(shape)),
                    spec.flat_types[0],
                )
                for shape, spec in zip(sizes, flat, strict=True)
            ],
        )
        types, shapes = structures.flat_types(specs), structures.flat_shapes(specs)
        op = PaddedBatchDatasetV2(False, types, shapes, len(sizes))
        variant = op(self._variant_tensor, size, sizes, pads, drops)
        return self.derived(variant, specs)

    def unbatch(self) -> Dataset:
        """The rows of the elements, one after the other.

        Raises:
          ValueError: a component is a scalar, or the first sizes differ.
        """
        specs = self.element_spec

        def normalize(*parts: Any) -> tuple[Tensor, ...]:
            whole = parts if len(parts) > 1 else parts[0]
            if isinstance(specs, tuple) and len(parts) == 1:
                whole = parts
            return tuple(structures.to_batched_tensors(specs, whole))

        found = self.map(normalize)
        shapes = structures.flat_shapes(specs)
        if any(shape.ndims == 0 for shape in shapes):
            raise ValueError("Cannot unbatch an input with scalar components.")
        known = Dimension(None)
        for shape in shapes:
            try:
                known = known.merge_with(shape[0] if shape.ndims else None)
            except ValueError:
                raise ValueError(
                    "Cannot unbatch an input whose components have different batch "
                    "sizes."
                ) from None
        inner = structures.mapped(lambda spec: spec._unbatch(), specs)
        types = structures.flat_types(inner)
        op = UnbatchDataset(types, structures.flat_shapes(inner))
        made = found.derived(op(found._variant_tensor), inner)
        made.preserves_count = True
        return made

    def window(
        self,
        size: TensorLike,
        shift: TensorLike | None = None,
        stride: TensorLike = 1,
        drop_remainder: TensorLike = False,
    ) -> Dataset:
        """Windows of elements: structures like an element, of a dataset for each part.

        Args:
          size: the number of elements in a window.
          shift: the number of elements between the beginnings of windows; `size` if
            None.
          stride: the number of elements between those of a window.
          drop_remainder: whether to omit smaller windows at the end.

        Example:
          >>> windows = tf.data.Dataset.range(4).window(2, shift=1)
          >>> windows.flat_map(lambda w: w.batch(2))  # [0 1], [1 2], [2 3], [3]
        """
        numbers = (
            int64_tensor(size, "size"),
            int64_tensor(size if shift is None else shift, "shift"),
            int64_tensor(stride, "stride"),
        )
        drops = convert(drop_remainder, bool_, "drop_remainder")
        specs = structures.mapped(DatasetSpec, self.element_spec)
        types, shapes = structures.flat_types(specs), structures.flat_shapes(specs)
        op = WindowDataset(types, shapes)
        return self.derived(op(self._variant_tensor, *numbers, drops), specs)


def _zero(dtype: DType) -> Any:
    if dtype is string:
        return ""
    if dtype is variant_type:
        raise TypeError(
            "Unable to create padding for field of type 'variant' because t.base_type "
            f"== dtypes.variant == {dtype}."
        )
    return np.zeros((), dtype.as_numpy_dtype)


def _padded_shape(shape: Any, element: TensorShape) -> Tensor:
    """A padded shape as an int64 vector, -1 for sizes that the batch determines."""
    tensor = shape_tensor(shape, "Padded shape {} must", "its")
    known = _known_shape(tensor)
    if not _fits(known, element):
        raise ValueError(
            f"The padded shape {known} is not compatible with the corresponding input "
            f"component shape {element}."
        )
    return tensor


def _known_shape(tensor: Tensor) -> TensorShape:
    """The shape that an int64 vector denotes, as far as it is constant."""
    value = constant_value(tensor)
    if value is not None:
        sizes = value.tolist()
    elif isinstance(tensor.op.spec, Pack):
        found = [constant_value(size) for size in tensor.op.inputs]
        sizes = [-1 if size is None else int(size) for size in found]
    else:
        count = tensor.shape.as_list()[0] if tensor.shape.ndims else None
        return TensorShape(None if count is None else [None] * count)
    return TensorShape([None if size < 0 else size for size in sizes])


def _fits(padded: TensorShape, element: TensorShape) -> bool:
    if padded.ndims is None or element.ndims is None:
        return True
    if padded.ndims != element.ndims:
        return False
    pairs = zip(padded.as_list(), element.as_list(), strict=True)
    return not any(p is not None and e is not None and p < e for p, e in pairs)


def _padding_value(value: TensorLike, dtype: DType) -> Tensor:
    tensor = convert(value, name="padding_value")
    if not tensor.shape.is_compatible_with([]):
        raise ValueError(f"Padding value should be a scalar, but is not: {tensor}")
    if tensor.dtype is not dtype:
        raise TypeError(
            f"Padding value tensor ({tensor}) does not match output type: {dtype}"
        )
    return tensor
