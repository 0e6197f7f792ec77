"""The types and shapes of an Estimator's input, which stay from call to call.

Source: contrib/learn/python/learn/estimators/tensor_signature.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tfteach.framework.dtypes import DType
from tfteach.framework.logger import get_logger
from tfteach.framework.shape import TensorShape
from tfteach.ops.core.placeholder import placeholder
from tfteach.ops.core.sparse_tensor import SparseTensor, sparse_placeholder


class TensorSignature(NamedTuple):
    """A Tensor's type, shape and kind."""

    dtype: DType
    shape: TensorShape | None
    is_sparse: bool

    def accepts(self, tensor: Any) -> bool:
        """Whether a Tensor has the type, and a shape that may be this one."""
        if tensor.dtype != self.dtype:
            return False
        if isinstance(tensor, SparseTensor) or self.is_sparse:
            return isinstance(tensor, SparseTensor) and self.is_sparse
        ours = [None, *_sizes(self.shape)[1:]]
        theirs = [None, *_sizes(tensor.get_shape())[1:]]
        return TensorShape(theirs).is_compatible_with(ours)


def _sizes(shape: Any) -> list[int | None]:
    if shape is None or shape.ndims is None:
        return []
    found: list[int | None] = shape.as_list()
    return found


def create_signatures(tensors: Any) -> Any:
    """The signature of a Tensor, or of each in a dict; None for None."""
    if tensors is None:
        return None
    if isinstance(tensors, Mapping):
        return {key: create_signatures(tensors[key]) for key in tensors}
    if isinstance(tensors, SparseTensor):
        return TensorSignature(tensors.values.dtype, None, True)
    return TensorSignature(tensors.dtype, tensors.get_shape(), False)


def placeholders_of(signatures: Any) -> Any:
    """Placeholders of the signatures, for batches of any size; None for None."""
    if signatures is None:
        return None
    if isinstance(signatures, Mapping):
        return {key: placeholders_of(each) for key, each in signatures.items()}
    if signatures.is_sparse:
        return sparse_placeholder(signatures.dtype)
    if signatures.shape is None or signatures.shape.ndims is None:
        return placeholder(signatures.dtype)
    return placeholder(signatures.dtype, [None, *_sizes(signatures.shape)[1:]])


def tensors_compatible(tensors: Any, signatures: Any) -> bool:
    """Whether Tensors have the signatures: all keys of a dict at least."""
    if isinstance(tensors, Mapping):
        if not isinstance(signatures, Mapping):
            return False
        return all(
            key in tensors and tensors_compatible(tensors[key], signatures[key])
            for key in signatures
        )
    if isinstance(signatures, Mapping):
        return False
    if signatures is None:
        return tensors is None
    return tensors is not None and bool(signatures.accepts(tensors))


def checked_signatures(tensors: Any, known: Any, kind: str) -> Any:
    """The signatures of an input: known ones, which it must have, or its own.

    Raises:
      ValueError: the input does not have the known ones.
    """
    if known is None:
        found = create_signatures(tensors)
        get_logger().debug("Setting %s info to %s", kind.lower(), found)
        return found
    get_logger().debug("Given %s: %s, required %s.", kind.lower(), tensors, known)
    if not tensors_compatible(tensors, known):
        raise ValueError(
            f"{kind} are incompatible with given information. Given {kind.lower()}: "
            f"{tensors}, required signatures: {known}."
        )
    return known
