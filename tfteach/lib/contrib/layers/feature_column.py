"""The older feature columns: what they provide, and those of numbers.

A column is a named tuple of its arguments.  `insert_transformed_feature` adds its
tensor to the dictionary of features; `wide` and `deep` describe a lookup of weights for
linear models and of embeddings for input layers, `to_input` makes dense values.
Source: contrib/layers/python/layers/feature_column.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tfteach.framework.dtypes import DType, as_dtype, float32, int64
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.lib.contrib.layers.rank_of_input import at_rank
from tfteach.lib.parsing.features import FixedLenFeature
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
from tfteach.variables.initializers import Zeros


class WideLookup(NamedTuple):
    """A lookup of weights in a linear model."""

    ids: SparseTensor
    weights: SparseTensor | None
    vocab_size: int
    combiner: str
    initializer: Any = Zeros()


class DeepLookup(NamedTuple):
    """A lookup of embeddings in an input layer."""

    ids: SparseTensor
    weights: SparseTensor | None
    vocab_size: int
    initializer: Any
    combiner: str
    dimension: int
    shared_name: str | None = None
    hash_key: int | None = None
    max_norm: float | None = None
    trainable: bool = True


class OldFeatureColumn:
    """Base of the columns of `tf.contrib.layers`.

    Attributes:
      name: its name, of which scopes and variables are named.
      config: what `tf.parse_example` needs to read its features.
      key: a text that is equal for equal columns, by which they are sorted.
    """

    _not_in_key: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        raise NotImplementedError

    @property
    def config(self) -> dict[str, Any]:
        raise NotImplementedError

    @property
    def key(self) -> str:
        if not self._not_in_key:
            return repr(self)
        values: dict[str, Any] = self._asdict()  # type: ignore[attr-defined]
        shown = (f"{k}={v}" for k, v in values.items() if k not in self._not_in_key)
        return f"{type(self).__name__}({', '.join(shown)})"

    def insert_transformed_feature(self, columns_to_tensors: dict[Any, Any]) -> None:
        """Add the column's tensor to the features, under the column."""
        raise NotImplementedError

    def checkpoint(self) -> tuple[str, str] | None:
        """A checkpoint's path and the name of a tensor in it, of initial values."""
        return None

    def wide(self, tensor: Any) -> WideLookup:
        raise NotImplementedError(
            f"No wide embedding lookup arguments for column {self}."
        )

    def deep(self, tensor: Any) -> DeepLookup:
        raise NotImplementedError(
            f"No deep embedding lookup arguments for column {self}."
        )

    def to_input(self, tensor: Any, rank: int) -> Tensor:
        """The column's part of an input layer."""
        raise ValueError(f"Calling an abstract method for column {self}.")

    def to_dense(self, tensor: Any) -> Any:
        """The column's values in a linear model."""
        raise NotImplementedError(f"No dense tensor representation for column {self}.")


# ---- numbers


class _RealValued(NamedTuple):
    column_name: str
    dimension: int
    default_value: tuple[float, ...] | None
    dtype: DType
    normalizer: Any


class _RealValuedColumn(OldFeatureColumn, _RealValued):
    """See `real_valued_column`."""

    _not_in_key = ("normalizer",)

    @property
    def name(self) -> str:
        return self.column_name

    @property
    def config(self) -> dict[str, Any]:
        default = None if self.default_value is None else list(self.default_value)
        return {self.name: FixedLenFeature([int(self.dimension)], self.dtype, default)}

    def insert_transformed_feature(self, columns_to_tensors: dict[Any, Any]) -> None:
        numbers = cast(columns_to_tensors[self.name], float32)
        if self.normalizer is not None:
            numbers = self.normalizer(numbers)
        columns_to_tensors[self] = numbers

    def to_input(self, tensor: Any, rank: int) -> Tensor:
        return at_rank(tensor, rank, self.name)

    def to_dense(self, tensor: Any) -> Any:
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
      normalizer: a function from the feature to what the column provides.

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


# ---- buckets


class _Bucketized(NamedTuple):
    source_column: _RealValuedColumn
    boundaries: tuple[float, ...]


class _BucketizedColumn(OldFeatureColumn, _Bucketized):
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

    def insert_transformed_feature(self, columns_to_tensors: dict[Any, Any]) -> None:
        if self.source_column not in columns_to_tensors:
            self.source_column.insert_transformed_feature(columns_to_tensors)
        source = columns_to_tensors[self.source_column]
        op = Bucketize(self.boundaries)
        columns_to_tensors[self] = op(source, name="bucketize")

    def to_input(self, tensor: Any, rank: int) -> Tensor:
        if rank != 2:
            raise ValueError("BucketizedColumn currently only supports output_rank=2")
        hot = one_hot(cast(tensor, int64), self.length, on_value=1.0, off_value=0.0)
        width = self.length * self.source_column.dimension
        return reshape(hot, [-1, width], name="reshape")

    def wide(self, tensor: Any) -> WideLookup:
        size = self.length * self.source_column.dimension
        return WideLookup(self.to_sparse_tensor(tensor), None, size, "sum")

    def to_sparse_tensor(self, tensor: Tensor) -> SparseTensor:
        """One id for each component; those of different components are distinct."""
        width = self.source_column.dimension
        batch_size = shape(tensor, name="shape")[0]
        if width > 1:
            examples = expand_dims(range_of(0, batch_size), 1, name="expand_dims")
            examples = tile(examples, [1, width], name="tile")
            examples = reshape(examples, [-1], name="reshape")
            components = tile(range_of(0, width), [batch_size], name="tile")
            ids = reshape(tensor, [-1], name="reshape") + self.length * components
        else:
            # Each example has one id.
            examples = range_of(0, batch_size)
            components = zeros([batch_size], examples.dtype)
            ids = reshape(tensor, [-1], name="reshape")
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
