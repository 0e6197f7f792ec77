"""The older columns of numbers: as they are, and as the buckets they fall into.

Source: contrib/layers/python/layers/feature_column.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tfteach.framework.dtypes import DType, as_dtype, float32, int64
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.lib.contrib.framework.experimental import warn_experimental
from tfteach.lib.contrib.layers.feature_column import IdColumn, TupleColumn
from tfteach.lib.contrib.layers.rank_of_input import at_rank
from tfteach.lib.feature_column.first_version import DenseColumnV1
from tfteach.lib.parsing.features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    VarLenFeature,
)
from tfteach.ops.array.one_hot import one_hot
from tfteach.ops.array.tile import tile
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.core.fill import zeros
from tfteach.ops.core.identity_reshape import expand_dims, reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.math.bucketize import Bucketize
from tfteach.ops.math.cast import cast
from tfteach.ops.math.range import range as range_of


def _as_floats(tensor: Any, normalizer: Any) -> Any:
    """A feature, normalized, as float32."""
    return cast(tensor if normalizer is None else normalizer(tensor), float32)


class _RealValued(NamedTuple):
    column_name: str
    dimension: int
    default_value: tuple[float, ...] | None
    dtype: DType
    normalizer: Any


class _RealValuedColumn(TupleColumn, DenseColumnV1, _RealValued):
    """See `real_valued_column`."""

    _not_in_key = ("normalizer",)

    @property
    def name(self) -> str:
        return self.column_name

    @property
    def config(self) -> dict[str, Any]:
        default = None if self.default_value is None else list(self.default_value)
        return {self.name: FixedLenFeature([int(self.dimension)], self.dtype, default)}

    @property
    def normalizer_fn(self) -> Any:
        """The function that normalizes the numbers, or None."""
        return self.normalizer

    @property
    def _variable_shape(self) -> TensorShape:
        return TensorShape([self.dimension])

    def _transform_feature(self, inputs: Any) -> Any:
        return _as_floats(inputs.get(self.name), self.normalizer)

    def _to_dnn_input_layer(
        self,
        input_tensor: Any,
        weight_collections: Any = None,
        trainable: bool = True,
        output_rank: int = 2,
    ) -> Tensor:
        return at_rank(input_tensor, output_rank, self.name)

    def _to_dense_tensor(self, input_tensor: Any) -> Any:
        return input_tensor

    def _get_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Tensor:
        tensor: Tensor = inputs.get(self)
        return tensor


@export("contrib.layers.real_valued_column")
def real_valued_column(
    column_name: str,
    dimension: int = 1,
    default_value: TensorLike | None = None,
    dtype: DTypeLike = float32,
    normalizer: Callable[[Tensor], Tensor] | None = None,
) -> _RealValuedColumn:
    """A column of numbers, read as they are.

    Args:
      column_name: the feature's key.
      dimension: the number of values of an example.
      default_value: the value of examples without the feature, when these are parsed: a
        number, or a list of `dimension` numbers; None: the feature is required.
      dtype: the numbers' type in parsed examples; ints or floats.
      normalizer: a function from the feature to what the column provides, as float32.

    Returns:
      A column.

    Raises:
      TypeError: `dimension` is no integer, or the default value has another type.
      ValueError: `dimension` < 1, `dtype` is not numeric, or the default value has
        another length.

    Example:
      >>> age = tf.contrib.layers.real_valued_column("age")

    Source: contrib/layers/python/layers/feature_column.py.
    """
    if dimension is None:
        raise TypeError(
            "dimension must be an integer. Use the _real_valued_var_len_column for "
            "variable length features."
            f"dimension: {dimension}, column_name: {column_name}"
        )
    if not isinstance(dimension, int):
        raise TypeError(
            "dimension must be an integer. "
            f"dimension: {dimension}, column_name: {column_name}"
        )
    if dimension < 1:
        raise ValueError(
            "dimension must be greater than 0. "
            f"dimension: {dimension}, column_name: {column_name}"
        )
    dtype = as_dtype(dtype)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(
            "dtype must be convertible to float. "
            f"dtype: {dtype}, column_name: {column_name}"
        )
    default = _checked_default(default_value, dimension, dtype, column_name)
    return _RealValuedColumn(column_name, dimension, default, dtype, normalizer)


def _checked_default(
    value: Any, dimension: int, dtype: DType, column_name: str
) -> tuple[float, ...] | None:
    if value is None:
        return None
    if isinstance(value, int):
        return (value if dtype.is_integer else float(value),) * dimension
    if isinstance(value, float) and dtype.is_floating:
        return (value,) * dimension
    if isinstance(value, list | tuple):
        if len(value) != dimension:
            raise ValueError(
                "The length of default_value must be equal to dimension. "
                f"default_value: {value}, dimension: {dimension}, "
                f"column_name: {column_name}"
            )
        if all(isinstance(item, int) for item in value):
            return tuple(item if dtype.is_integer else float(item) for item in value)
        is_numbers = all(isinstance(item, int | float) for item in value)
        if is_numbers and dtype.is_floating:
            return tuple(map(float, value))
    raise TypeError(
        "default_value must be compatible with dtype. "
        f"default_value: {value}, dtype: {dtype}, column_name: {column_name}"
    )


# ---- numbers of variable length


class _RealValuedVarLen(NamedTuple):
    column_name: str
    default_value: float | None
    dtype: DType
    normalizer: Any
    is_sparse: bool


class _RealValuedVarLenColumn(TupleColumn, _RealValuedVarLen):
    """See `_real_valued_var_len_column`."""

    _not_in_key = ("normalizer",)

    @property
    def name(self) -> str:
        return self.column_name

    @property
    def config(self) -> dict[str, Any]:
        if self.is_sparse:
            return {self.name: VarLenFeature(self.dtype)}
        padded = FixedLenSequenceFeature(
            [], self.dtype, allow_missing=True, default_value=self.default_value
        )
        return {self.name: padded}

    @property
    def normalizer_fn(self) -> Any:
        """The function that normalizes the numbers, or None."""
        return self.normalizer

    def _transform_feature(self, inputs: Any) -> Any:
        tensor = inputs.get(self.name)
        if not self.is_sparse:
            return _as_floats(tensor, self.normalizer)
        values = _as_floats(tensor.values, self.normalizer)
        return SparseTensor(tensor.indices, values, tensor.dense_shape)

    def _to_dnn_input_layer(
        self,
        input_tensor: Any,
        weight_collections: Any = None,
        trainable: bool = True,
        output_rank: int = 2,
    ) -> Tensor:
        return at_rank(self._to_dense_tensor(input_tensor), output_rank, self.name)

    def _to_dense_tensor(self, input_tensor: Any) -> Any:
        if self.is_sparse:
            raise ValueError(
                "Set is_sparse to False if you want a dense Tensor for column_name: "
                f"{self.name}"
            )
        return input_tensor


def _real_valued_var_len_column(
    column_name: str,
    default_value: float | None = None,
    dtype: DTypeLike = float32,
    normalizer: Callable[[Tensor], Tensor] | None = None,
    is_sparse: bool = False,
) -> _RealValuedVarLenColumn:
    """A column of any number of numbers for each example.

    Args:
      column_name: the feature's key.
      default_value: the number that pads parsed examples; required if they are dense.
      dtype: the numbers' type in parsed examples; ints or floats.
      normalizer: a function from the feature's numbers to what the column provides, as
        float32.
      is_sparse: whether examples are parsed to a SparseTensor, which models of this
        package do not accept, rather than to a padded Tensor.

    Raises:
      TypeError: `dtype` is not numeric.
      ValueError: a default value that is a list, or is missing.

    Source: contrib/layers/python/layers/feature_column.py.
    """
    warn_experimental(
        "_real_valued_var_len_column", "layers.python.layers.feature_column"
    )
    dtype = as_dtype(dtype)
    if not (dtype.is_integer or dtype.is_floating):
        raise TypeError(
            "dtype must be convertible to float. "
            f"dtype: {dtype}, column_name: {column_name}"
        )
    if default_value is None and not is_sparse:
        raise ValueError(
            "default_value must be provided when is_sparse=False to parse a padded "
            f"Tensor. column_name: {column_name}"
        )
    if isinstance(default_value, list):
        raise ValueError(
            "Only scalar default value. "
            f"default_value: {default_value}, column_name: {column_name}"
        )
    if default_value is not None:
        default_value = int(default_value) if dtype.is_integer else float(default_value)
    return _RealValuedVarLenColumn(
        column_name, default_value, dtype, normalizer, is_sparse
    )


# ---- buckets


class _Bucketized(NamedTuple):
    source_column: _RealValuedColumn
    boundaries: tuple[float, ...]


class _BucketizedColumn(IdColumn, DenseColumnV1, _Bucketized):
    """See `bucketized_column`."""

    @property
    def name(self) -> str:
        return f"{self.source_column.name}_bucketized"

    @property
    def config(self) -> dict[str, Any]:
        return self.source_column.config

    @property
    def length(self) -> int:
        """The number of buckets of each component of the source."""
        return len(self.boundaries) + 1

    @property
    def _num_buckets(self) -> int:
        return self.length * self.source_column.dimension

    @property
    def _variable_shape(self) -> TensorShape:
        return TensorShape([self._num_buckets])

    @property
    def _linear_combiner(self) -> str:
        return "sum"

    def _transform_feature(self, inputs: Any) -> Any:
        op = Bucketize(self.boundaries)
        return op(inputs.get(self.source_column), name="bucketize")

    def _to_dnn_input_layer(
        self,
        input_tensor: Any,
        weight_collections: Any = None,
        trainable: bool = True,
        output_rank: int = 2,
    ) -> Tensor:
        if output_rank != 2:
            raise ValueError("BucketizedColumn currently only supports output_rank=2")
        ids = cast(input_tensor, int64)
        hot = one_hot(ids, self.length, on_value=1.0, off_value=0.0)
        return reshape(hot, [-1, self._num_buckets], name="reshape")

    def _get_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Tensor:
        return self._to_dnn_input_layer(inputs.get(self))

    def id_tensor(self, input_tensor: Any) -> SparseTensor:
        return self.to_sparse_tensor(input_tensor)

    def to_sparse_tensor(self, input_tensor: Tensor) -> SparseTensor:
        """One id for each component; those of different components are distinct."""
        width = self.source_column.dimension
        batch_size = shape(input_tensor, name="shape")[0]
        if width > 1:
            examples = expand_dims(range_of(0, batch_size), 1, name="expand_dims")
            examples = tile(examples, [1, width], name="tile")
            examples = reshape(examples, [-1], name="reshape")
            components = tile(range_of(0, width), [batch_size], name="tile")
            ids = reshape(input_tensor, [-1], name="reshape") + self.length * components
        else:
            # Each example has one id.
            examples = range_of(0, batch_size)
            components = zeros([batch_size], examples.dtype)
            ids = reshape(input_tensor, [-1], name="reshape")
        indices = cast(transpose(stack((examples, components))), int64)
        sizes = cast(stack([batch_size, width]), int64)
        return SparseTensor(indices, ids, sizes)


@export("contrib.layers.bucketized_column")
def bucketized_column(
    source_column: _RealValuedColumn, boundaries: Sequence[float]
) -> _BucketizedColumn:
    """A column of numbers, each as the bucket it falls into.

    Args:
      source_column: a column of `real_valued_column`.
      boundaries: a list of ascending numbers; repeated ones count once.

    Returns:
      A column, of one-hot vectors in an input layer and of ids in a linear model.

    Raises:
      TypeError: another kind of source.
      ValueError: boundaries that are empty or do not ascend.

    Source: contrib/layers/python/layers/feature_column.py.
    """
    if not isinstance(source_column, _RealValuedColumn):
        raise TypeError(
            "source_column must be an instance of _RealValuedColumn. "
            f"source_column: {source_column}"
        )
    if not isinstance(boundaries, list | tuple) or not boundaries:
        raise ValueError(
            f"boundaries must be a non-empty list or tuple. boundaries: {boundaries}"
        )
    if list(boundaries) != sorted(boundaries):
        raise ValueError(f"boundaries must be a sorted list. boundaries: {boundaries}")
    return _BucketizedColumn(source_column, tuple(sorted(set(boundaries))))
