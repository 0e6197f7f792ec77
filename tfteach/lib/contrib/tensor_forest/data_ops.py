"""From features and labels to what forests read, and its description.

Source: contrib/tensor_forest/python/ops/data_ops.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType, float32, float64, int32, int64, string
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.array.concat_split import concat
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.math.cast import cast
from tfteach.ops.sparse.sparse_dense_math import sparse_tensor_to_dense

# [examples, features], or such by names.
Features: TypeAlias = "TensorLike | SparseTensor | Mapping[Any, Any]"
DATA_FLOAT = 0
DATA_CATEGORICAL = 1
_KINDS = {
    string: DATA_CATEGORICAL,
    int32: DATA_CATEGORICAL,
    int64: DATA_CATEGORICAL,
    float32: DATA_FLOAT,
    float64: DATA_FLOAT,
}


class ForestData(NamedTuple):
    """The features of a batch.

    Attributes:
      dense: Tensor [examples, features], or None.
      sparse: SparseTensor [examples, features], or None.
      spec: the description of the columns, as ops of forests have it.
    """

    dense: Tensor | None
    sparse: SparseTensor | None
    spec: str

    def arguments(self) -> tuple[Any, Any, Any, Any]:
        """The inputs that ops of forests have of it."""
        sparse = self.sparse
        if sparse is None:
            return self.dense, [], [], []
        dense: Any = [] if self.dense is None else self.dense
        return dense, sparse.indices, sparse.values, sparse.dense_shape


def _column(name: str, dtype: DType, size: int) -> str:
    """The description of a column.  Raises: KeyError: it has no such type."""
    return f"{{name: {name} original_type: {_KINDS[dtype]} size: {size}}}"


def _spec(dense_size: int, dense: str, sparse: str) -> str:
    found = f"dense_features_size: {dense_size} dense: [{dense}] sparse: [{sparse}]"
    get_logger().info(found)
    return found


def _width(tensor: Tensor) -> int:
    """The static number of columns.

    Raises:
      TypeError: it is not known.
      IndexError: the features are no matrix.
    """
    size = tensor.get_shape().as_list()[1]
    if size is None:
        raise TypeError("Forests need features of a known number of columns")
    return int(size)


def _as_float(tensor: Tensor) -> Tensor:
    """Raises: NotImplementedError: they are strings."""
    if tensor.dtype == string:
        raise NotImplementedError(
            "Forests of features that are strings are not supported: pass numbers, "
            "such as those of tf.strings.to_hash_bucket_fast"
        )
    return cast(tensor, float32) if tensor.dtype in (int32, int64) else tensor


def data_of(features: Features) -> ForestData:
    """A Tensor, a SparseTensor or a dict of Tensors as the data of a forest.

    Args:
      features: [examples, features], or such by names, which are joined in the order of
        the names; sparse ones in a dict are left out, as by TensorFlow.

    Raises:
      KeyError: features are neither numbers nor strings.
      NotImplementedError: features are strings.
      IndexError: they are no matrix.
      ValueError: a dict has no dense ones.
    """
    if isinstance(features, Mapping):
        return _joined(features)
    if isinstance(features, SparseTensor):
        column = _column("sparse_features", features.dtype, -1)
        return ForestData(None, features, _spec(0, "", column))
    data = convert(features)
    width = _width(data)
    column = _column("dense_features", data.dtype.base_dtype, width)
    return ForestData(data, None, _spec(width, column, ""))


def _joined(features: Mapping[Any, Any]) -> ForestData:
    columns, tensors, total = "", [], 0
    for number, key in enumerate(sorted(features, key=str)):
        if isinstance(features[key], SparseTensor):
            continue
        tensor = convert(features[key])
        name = key if isinstance(key, str) else str(number)
        width = _width(tensor)
        columns += _column(name, tensor.dtype.base_dtype, width)
        total += width
        tensors.append(_as_float(tensor))
    if not tensors:
        raise ValueError(
            "None values not supported: the dict of features has no dense ones; pass a "
            "single SparseTensor to RandomForestGraphs, or dense features"
        )
    return ForestData(concat(tensors, 1), None, _spec(total, columns, ""))


def labels_of(labels: Features) -> Tensor:
    """Labels as a float32 Tensor; those of a dict as columns in the order of names."""
    if isinstance(labels, SparseTensor):
        dense = SparseTensor(
            labels.indices, cast(labels.values, float32), labels.dense_shape
        )
        found: Tensor = sparse_tensor_to_dense(dense, -1)
        return found
    if isinstance(labels, Mapping):
        labels = concat([labels[key] for key in sorted(labels)], 1)
    return cast(labels, float32)
