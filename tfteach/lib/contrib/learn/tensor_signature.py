"""The types and shapes of an Estimator's input, which stay from call to call.

Source: contrib/learn/python/learn/estimators/tensor_signature.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tfteach.framework.dtypes import DType, float32, int64
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.lib.parsing.examples import parse_example
from tfteach.lib.parsing.features import FixedLenFeature, VarLenFeature
from tfteach.ops.core.placeholder import placeholder
from tfteach.ops.core.sparse_tensor import SparseTensor, sparse_placeholder
from tfteach.ops.math.cast import cast


class _Fields(NamedTuple):
    dtype: DType
    shape: TensorShape | None
    is_sparse: bool


class TensorSignature(_Fields):
    """A Tensor's type, shape and kind.

    Attributes:
      dtype: its type; of a SparseTensor that of the values.
      shape: its shape; None of a SparseTensor.
      is_sparse: whether it is a SparseTensor.

    Args:
      tensor: a Tensor or SparseTensor.

    Source: contrib/learn/python/learn/estimators/tensor_signature.py.
    """

    __slots__ = ()

    def __new__(cls, tensor: Any) -> TensorSignature:
        if isinstance(tensor, SparseTensor):
            return super().__new__(cls, tensor.values.dtype, None, True)
        return super().__new__(cls, tensor.dtype, tensor.get_shape(), False)

    def is_compatible_with(self, other: TensorSignature) -> bool:
        """Whether a Tensor of the other signature may have this one.

        Only the batch may have another size.  Two unknown shapes, or one, fit.
        """
        if other.dtype != self.dtype or other.is_sparse != self.is_sparse:
            return False
        if self.shape is None or other.shape is None:
            return self.is_sparse
        return _any_batch(other.shape).is_compatible_with(_any_batch(self.shape))

    def get_placeholder(self) -> Tensor | SparseTensor:
        """A placeholder for batches of any size."""
        if self.is_sparse:
            return sparse_placeholder(self.dtype)
        if self.shape is None or self.shape.ndims is None:
            return placeholder(self.dtype)
        return placeholder(self.dtype, [None, *self.shape.as_list()[1:]])

    def get_feature_spec(self) -> FixedLenFeature | VarLenFeature:
        """The feature of Examples from which such a Tensor is parsed.

        Examples hold strings, int64 and float32 numbers: `create_example_parser_from_
        signatures` casts these.
        """
        dtype = self.dtype
        if dtype.is_integer:
            dtype = int64
        elif dtype.is_floating:
            dtype = float32
        if self.is_sparse:
            return VarLenFeature(dtype)
        assert self.shape is not None
        sizes = None if self.shape.ndims is None else self.shape[1:]
        return FixedLenFeature(TensorShape(sizes), dtype)


def _any_batch(shape: TensorShape) -> TensorShape:
    """The shape, without the size of the batch."""
    if not shape.ndims:
        return shape
    return TensorShape([None, *shape.as_list()[1:]])


def create_signatures(tensors: Any) -> Any:
    """The signature of a Tensor, or of each in a dict; None for None."""
    if tensors is None:
        return None
    if isinstance(tensors, Mapping):
        return {key: create_signatures(tensors[key]) for key in tensors}
    return TensorSignature(tensors)


def create_placeholders_from_signatures(signatures: Any) -> Any:
    """Placeholders of the signatures, for batches of any size; None for None."""
    if signatures is None:
        return None
    if isinstance(signatures, Mapping):
        return {
            key: create_placeholders_from_signatures(each)
            for key, each in signatures.items()
        }
    return signatures.get_placeholder()


def create_example_parser_from_signatures(
    signatures: Any, examples_batch: Any, single_feature_name: str = "feature"
) -> Any:
    """The Tensors of signatures, parsed from serialized Examples.

    Args:
      signatures: a TensorSignature, or a dict of names of features to them.
      examples_batch: string Tensor [batch].
      single_feature_name: the feature's name if there is no dict.

    Returns:
      A Tensor, or a dict of them, of the types of the signatures.

    Source: contrib/learn/python/learn/estimators/tensor_signature.py.
    """
    named = signatures
    if not isinstance(signatures, Mapping):
        named = {single_feature_name: signatures}
    features = {key: each.get_feature_spec() for key, each in named.items()}
    parsed = parse_example(examples_batch, features)
    found = {
        key: tensor
        if tensor.dtype == named[key].dtype
        else cast(tensor, named[key].dtype)
        for key, tensor in parsed.items()
    }
    return found if isinstance(signatures, Mapping) else found[single_feature_name]


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
    return tensors is not None and bool(
        signatures.is_compatible_with(TensorSignature(tensors))
    )


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
