"""Structures of which some leaves are SparseTensors.

Source: python/data/util/sparse.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.framework.dtypes import variant
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.lib.data import nest
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.sparse.sparse_tensor_spec import SparseTensorSpec


def any_sparse(classes: Any) -> bool:
    """Whether one of a structure's classes is `tf.SparseTensor`."""
    return any(kind is SparseTensor for kind in nest.flatten(classes))


def as_dense_shapes(shapes: Any, classes: Any) -> Any:
    """The structure of the shapes of the tensors of an element.

    That of a serialized SparseTensor is unknown.
    """
    return _replaced(shapes, classes, TensorShape(None))


def as_dense_types(types: Any, classes: Any) -> Any:
    """The structure of the types of the tensors of an element.

    That of a serialized SparseTensor is variant.
    """
    return _replaced(types, classes, variant)


def _replaced(structure: Any, classes: Any, of_sparse: Any) -> Any:
    pairs = zip(nest.flatten(structure), nest.flatten(classes), strict=True)
    found = [of_sparse if kind is SparseTensor else leaf for leaf, kind in pairs]
    return nest.pack_sequence_as(structure, found)


def get_classes(tensors: Any) -> Any:
    """The structure of classes, `tf.SparseTensor` or `tf.Tensor`, of an element."""

    def kind(leaf: Any) -> type:
        return SparseTensor if isinstance(leaf, SparseTensor) else Tensor

    return nest.map_structure(kind, tensors)


def serialize_sparse_tensors(tensors: Any) -> Any:
    """The structure with each SparseTensor as a variant vector of its three parts."""
    return _serialized(tensors, SparseTensorSpec._to_tensor_list)


def serialize_many_sparse_tensors(tensors: Any) -> Any:
    """The structure with each SparseTensor as a variant matrix, a row for each row."""
    return _serialized(tensors, SparseTensorSpec._to_batched_tensor_list)


def _serialized(tensors: Any, method: Callable[..., list[Tensor]]) -> Any:
    def serialized(leaf: Any) -> Any:
        if not isinstance(leaf, SparseTensor):
            return leaf
        return method(SparseTensorSpec(leaf.get_shape(), leaf.dtype), leaf)[0]

    return nest.map_structure(serialized, tensors)


def deserialize_sparse_tensors(
    tensors: Any, types: Any, shapes: Any, classes: Any
) -> Any:
    """The inverse of `serialize_sparse_tensors`.

    Args:
      tensors: a structure of tensors.
      types, shapes, classes: the same structure of element types, dense shapes and
        classes.
    """
    rows = zip(*map(nest.flatten, (tensors, types, shapes, classes)), strict=True)
    found = [
        SparseTensorSpec(shape, dtype)._from_compatible_tensor_list([tensor])
        if kind is SparseTensor
        else tensor
        for tensor, dtype, shape, kind in rows
    ]
    return nest.pack_sequence_as(tensors, found)
