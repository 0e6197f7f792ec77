"""Descriptions of features: which tensors serialized Examples become.

Source: python/ops/parsing_ops.py (classes, checks, order of keys).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import as_dtype, int64, string
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape, as_tensor_shape
from tfteach.framework.type_aliases import DTypeLike, ShapeLike
from tfteach.ops.core.constant import constant
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.sparse.sparse_functions import sparse_merge


@export("VarLenFeature", "io.VarLenFeature")
class VarLenFeature(NamedTuple):
    """A feature with any number of values, which becomes a SparseTensor.

    Attributes:
      dtype: float32, int64 or string.

    Example:
      >>> tf.VarLenFeature(tf.string)
    """

    dtype: DTypeLike


@export("FixedLenFeature", "io.FixedLenFeature")
class FixedLenFeature(NamedTuple):
    """A feature with the same number of values in all Examples: a dense Tensor.

    Attributes:
      shape: that of one Example's values.
      dtype: float32, int64 or string.
      default_value: the values of Examples that lack the feature; None if that is an
        error.

    Example:
      >>> tf.FixedLenFeature([28, 28], tf.float32)
    """

    shape: ShapeLike
    dtype: DTypeLike
    default_value: Any = None


@export("FixedLenSequenceFeature", "io.FixedLenSequenceFeature")
class FixedLenSequenceFeature(NamedTuple):
    """A feature of any number of equal parts: a dense Tensor, padded in a batch.

    Attributes:
      shape: that of a part.
      dtype: float32, int64 or string.
      allow_missing: whether Examples may lack the feature; required for
        `parse_example`.
      default_value: the padding; None for 0 or "".

    Example:
      >>> tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True)
    """

    shape: ShapeLike
    dtype: DTypeLike
    allow_missing: bool = False
    default_value: Any = None


@export("SparseFeature", "io.SparseFeature")
class SparseFeature(NamedTuple):
    """Two or more features that together make a SparseTensor.

    Attributes:
      index_key: the feature with the indices, or a list of them, one for each axis.
      value_key: the feature with the values.
      dtype: their type: float32, int64 or string.
      size: the size of the axis, or a list of them.
      already_sorted: whether the indices ascend, so that they need not be sorted.

    Example:
      >>> tf.SparseFeature("index", "weight", tf.float32, size=1000)
    """

    index_key: str | Sequence[str]
    value_key: str
    dtype: DTypeLike
    size: int | Sequence[int]
    already_sorted: bool = False


class RawFeatures:
    """The attributes and inputs of an op for features, in the order of their keys.

    Args:
      features: name -> description.
      kinds: the allowed descriptions.

    Attributes:
      sparse_keys, sparse_types: of the features that become SparseTensors.
      dense_keys, dense_types, dense_shapes: of those that become dense.
      dense_defaults: the defaults that were given.

    Raises:
      ValueError: a description is incomplete, or of no allowed kind.
    """

    def __init__(
        self, features: Mapping[str, Any] | None, kinds: Sequence[type]
    ) -> None:
        self.sparse_keys: list[str] = []
        self.sparse_types: list[Any] = []
        self.dense_keys: list[str] = []
        self.dense_types: list[Any] = []
        self.dense_shapes: list[TensorShape] = []
        self.dense_defaults: dict[str, Any] = {}
        add: dict[type, Any] = {
            VarLenFeature: self._add_var_len,
            SparseFeature: self._add_sparse,
            FixedLenFeature: self._add_fixed,
            FixedLenSequenceFeature: self._add_sequence,
        }
        for key in sorted(features or {}):
            feature = (features or {})[key]
            if type(feature) not in add:
                raise ValueError(f"Invalid feature {key}:{feature}.")
            if type(feature) not in kinds:
                raise ValueError(f"Unsupported {type(feature).__name__} {feature}.")
            add[type(feature)](key, feature)

    def _add_var_len(self, key: str, feature: VarLenFeature) -> None:
        _require_type(key, feature.dtype)
        self.sparse_keys.append(key)
        self.sparse_types.append(feature.dtype)

    def _add_sparse(self, key: str, feature: SparseFeature) -> None:
        if not feature.index_key:
            raise ValueError(f"Missing index_key for SparseFeature {feature}.")
        if not feature.value_key:
            raise ValueError(f"Missing value_key for SparseFeature {feature}.")
        if not feature.dtype:
            raise ValueError(f"Missing type for feature {key}.")
        index_keys = feature.index_key
        if isinstance(index_keys, str):
            index_keys = [index_keys]
        for index_key in sorted(index_keys):
            self._add_part(index_key, int64)
        self._add_part(feature.value_key, feature.dtype)

    def _add_part(self, key: str, dtype: DTypeLike) -> None:
        if key not in self.sparse_keys:
            self.sparse_keys.append(key)
            self.sparse_types.append(dtype)
            return
        known = self.sparse_types[self.sparse_keys.index(key)]
        if known != dtype:
            raise ValueError(f"Conflicting type {known} vs {dtype} for feature {key}.")

    def _add_fixed(self, key: str, feature: FixedLenFeature) -> None:
        _require_type(key, feature.dtype)
        if feature.shape is None:
            raise ValueError(f"Missing shape for feature {key}.")
        shape = as_tensor_shape(feature.shape)
        sizes = shape.as_list()
        if feature.shape and sizes and sizes[0] is None:
            raise ValueError(
                f"First dimension of shape for feature {key} unknown. Consider using "
                "FixedLenSequenceFeature."
            )
        if not shape.is_fully_defined():
            raise ValueError(
                f"All dimensions of shape for feature {key} need to be known but "
                f"received {feature.shape}."
            )
        self._add_dense(key, feature.dtype, shape)
        if feature.default_value is not None:
            self.dense_defaults[key] = feature.default_value

    def _add_sequence(self, key: str, feature: FixedLenSequenceFeature) -> None:
        _require_type(key, feature.dtype)
        if feature.shape is None:
            raise ValueError(f"Missing shape for feature {key}.")
        self._add_dense(key, feature.dtype, as_tensor_shape(feature.shape))
        if feature.allow_missing:
            self.dense_defaults[key] = None
        if feature.default_value is not None:
            self.dense_defaults[key] = feature.default_value

    def _add_dense(self, key: str, dtype: DTypeLike, shape: TensorShape) -> None:
        self.dense_keys.append(key)
        self.dense_types.append(dtype)
        self.dense_shapes.append(shape)

    def default_tensors(self, reshaped: bool = True) -> list[Tensor]:
        """A tensor for the default of each dense feature: empty if it has none.

        Args:
          reshaped: whether a default gets the feature's shape.
        """
        return [
            self._default(*row, reshaped)
            for row in zip(
                self.dense_keys, self.dense_types, self.dense_shapes, strict=True
            )
        ]

    def _default(
        self, key: str, dtype: DTypeLike, shape: TensorShape, reshaped: bool
    ) -> Tensor:
        given, plain = self.dense_defaults.get(key), as_node_name(key)
        sizes = shape.dims
        if sizes and sizes[0].value is None:  # any number of parts: the padding
            if given is None:
                empty = "" if as_dtype(dtype) is string else 0
                return constant(empty, dtype)
            return reshape(convert(given, dtype, f"padding_{plain}"), [])
        if given is None:
            return constant([], dtype)
        if isinstance(given, Tensor):
            return given
        value = convert(given, dtype, f"key_{plain}")
        return reshape(value, shape) if reshaped else value


def as_node_name(key: str) -> str:
    """A feature's name without what the name of a node may not have."""
    return re.sub(r"[^A-Za-z0-9_.\-/]", "_", key)


def _require_type(key: str, dtype: Any) -> None:
    if not dtype:
        raise ValueError(f"Missing type for feature {key}.")


def merge_sparse_features(
    features: Mapping[str, Any], tensors: dict[str, Any]
) -> dict[str, Any]:
    """The tensors by feature, with those of each SparseFeature merged."""
    found = dict(tensors)
    for key in sorted(features):
        feature = features[key]
        if isinstance(feature, SparseFeature):
            names = feature.index_key
            ids = (
                tensors[names]
                if isinstance(names, str)
                else [tensors[n] for n in names]
            )
            found[key] = sparse_merge(
                ids,
                tensors[feature.value_key],
                vocab_size=feature.size,
                already_sorted=feature.already_sorted,
            )
    return {key: tensor for key, tensor in found.items() if key in features}


def with_unknown_first_axis(features: Mapping[str, Any]) -> dict[str, Any]:
    """Features whose sequences have a first axis of unknown size.

    Raises:
      ValueError: a sequence may not be missing.
    """
    found = dict(features)
    for key, feature in features.items():
        if isinstance(feature, FixedLenSequenceFeature):
            if not feature.allow_missing:
                raise ValueError(
                    "Unsupported: FixedLenSequenceFeature requires allow_missing to be "
                    "True."
                )
            shape = TensorShape([None]).concatenate(as_tensor_shape(feature.shape))
            found[key] = feature._replace(shape=shape)
    return found
