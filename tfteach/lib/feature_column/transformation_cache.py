"""Raw features and what columns make of them, each computed once.

Source: python/feature_column/feature_column_v2.py (FeatureTransformationCache).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tfteach.control.branch import cond
from tfteach.control.checks.values import assert_positive
from tfteach.framework.dtypes import int64, string
from tfteach.framework.graph import get_default_graph
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.lib.feature_column.first_version import FeatureColumnV1
from tfteach.ops.array.gather_nd import gather_nd
from tfteach.ops.array.where_select import where
from tfteach.ops.core.identity_reshape import expand_dims
from tfteach.ops.core.shape_ops import rank, shape
from tfteach.ops.core.sparse_tensor import (
    SparseTensor,
    convert_to_tensor_or_sparse_tensor,
)
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import equal, not_equal
from tfteach.ops.sparse.sparse_shape import sparse_reshape


class FeatureTransformationCache:
    """The features of a batch: raw ones by key, transformed ones by column.

    Args:
      features: a dictionary from keys to Tensors or SparseTensors.
    """

    _column_type = "FeatureColumn"

    def __init__(self, features: Mapping[Any, Any]) -> None:
        self._features = dict(features)
        self._tensors: dict[Any, Any] = {}

    def get(self, key: Any, state_manager: Any = None, training: Any = None) -> Any:
        """A raw feature of rank 2 or more, or a column's transformed feature.

        Args:
          key: a feature's key, or a FeatureColumn.
          state_manager: passed to the columns.
          training: ignored, as in TensorFlow's columns.

        Raises:
          ValueError: there is no such feature, or it has rank 0.
          TypeError: `key` is neither a string nor a column.
        """
        if key in self._tensors:
            return self._tensors[key]
        if key in self._features:
            found = self._raw(key)
        elif isinstance(key, str):
            raise ValueError(f"Feature {key} is not in features dictionary.")
        elif not isinstance(key, FeatureColumnV1):
            raise TypeError(
                f'"key" must be either a "str" or "{self._column_type}". '
                f"Provided: {key}"
            )
        else:
            get_logger().debug("Transforming feature_column %s.", key)
            found = self._transformed(key, state_manager)
            if found is None:
                raise ValueError(f"Column {key.name} is not supported.")
        self._tensors[key] = found
        return found

    def _transformed(self, column: Any, state_manager: Any) -> Any:
        return column.transform_feature(self, state_manager)

    def _raw(self, key: Any) -> Any:
        """A feature as given; vectors become columns of one value for each example."""
        feature = convert_to_tensor_or_sparse_tensor(self._features[key])
        known = feature.get_shape().ndims
        text = f"Feature (key: {key}) cannot have rank 0. Given: {feature}"
        if known is not None:
            if known == 0:
                raise ValueError(text)
            return feature if known != 1 else _as_column(feature)
        check = assert_positive(rank(feature), message=text)
        with get_default_graph().control_dependencies([check]):
            return cond(
                equal(1, rank(feature)), lambda: _as_column(feature), lambda: feature
            )


class LazyBuilder(FeatureTransformationCache):
    """The cache of functions, which call columns as those of the first version.

    Args:
      features: a dictionary from keys to Tensors or SparseTensors.

    Source: python/feature_column/feature_column.py (_LazyBuilder).
    """

    _column_type = "_FeatureColumn"

    def _transformed(self, column: Any, state_manager: Any) -> Any:
        return column._transform_feature(self)


def _as_column(feature: Any) -> Any:
    if isinstance(feature, SparseTensor):
        return sparse_reshape(feature, [shape(feature)[0], 1])
    return expand_dims(feature, -1)


def as_sparse_input(
    tensor: Any, ignored: Any = None, scope: str = "to_sparse_input"
) -> SparseTensor:
    """A dense feature as sparse, without the elements that mean "missing".

    Args:
      tensor: a Tensor, or a SparseTensor, which is returned unchanged.
      ignored: the missing value; if None, "" for strings, -1 for integers, else 0.
      scope: the name scope of its ops.
    """
    tensor = convert_to_tensor_or_sparse_tensor(tensor)
    if isinstance(tensor, SparseTensor):
        return tensor
    with name_scope(None, scope, [tensor, ignored]):
        if ignored is None:
            ignored = _missing(tensor)
        ignored = cast(ignored, tensor.dtype, name="ignore_value")
        indices = where(not_equal(tensor, ignored), name="indices")
        return SparseTensor(
            indices,
            gather_nd(tensor, indices, name="values"),
            shape(tensor, out_type=int64, name="dense_shape"),
        )


def _missing(tensor: Tensor) -> Any:
    if tensor.dtype == string:
        return ""
    if tensor.dtype.is_integer:
        return -1
    return np.zeros((), tensor.dtype.as_numpy_dtype)[()]
