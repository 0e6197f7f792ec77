"""Columns of numbers: numeric and bucketized ones.

Source: python/feature_column/feature_column_v2.py, utils.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, NamedTuple

from tfteach.framework import nest
from tfteach.framework.dtypes import DType, as_dtype, float32, int64
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import DTypeLike, ShapeLike, TensorLike
from tfteach.lib.feature_column.base_column import (
    Cache,
    CategoricalColumn,
    DenseColumn,
    StateManager,
    check_key,
)
from tfteach.lib.feature_column.first_version import IdWeightPair
from tfteach.lib.parsing.features import FixedLenFeature
from tfteach.ops.array.one_hot import one_hot
from tfteach.ops.array.tile import tile
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.core.identity_reshape import expand_dims, reshape
from tfteach.ops.core.shape_ops import shape as shape_of
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.math.bucketize import Bucketize
from tfteach.ops.math.cast import cast
from tfteach.ops.math.range import range as range_of

Normalizer = Callable[[Any], Any]


class _Numeric(NamedTuple):
    key: str
    shape: tuple[int, ...]
    default_value: Any
    dtype: DType
    normalizer_fn: Normalizer | None


class NumericColumn(DenseColumn, _Numeric):
    """See `numeric_column`."""

    @property
    def name(self) -> str:
        return self.key

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: FixedLenFeature(self.shape, self.dtype, self.default_value)}

    @property
    def parents(self) -> list[Any]:
        return [self.key]

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape(self.shape)

    def transform_feature(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> Tensor:
        numbers = transformation_cache.get(self.key, state_manager)
        if isinstance(numbers, SparseTensor):
            raise ValueError(
                "The corresponding Tensor of numerical column must be a Tensor. "
                f"SparseTensor is not supported. key: {self.key}"
            )
        if self.normalizer_fn is not None:
            numbers = self.normalizer_fn(numbers)
        tensor: Tensor = cast(numbers, float32)
        return tensor

    def get_dense_tensor(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> Tensor:
        tensor: Tensor = transformation_cache.get(self, state_manager)
        return tensor


@export("feature_column.numeric_column")
def numeric_column(
    key: str,
    shape: ShapeLike = (1,),
    default_value: TensorLike | None = None,
    dtype: DTypeLike = float32,
    normalizer_fn: Normalizer | None = None,
) -> NumericColumn:
    """A column of numbers, read as they are.

    Args:
      key: the feature's key.
      shape: the shape of one example's value.
      default_value: the value of examples without the feature, when these are parsed:
        a number, or nested lists of `shape`; None: the feature is required.
      dtype: the numbers' type in parsed examples; ints or floats.
      normalizer_fn: a function from the feature to what the column provides.

    Returns:
      A NumericColumn.

    Raises:
      ValueError: `key` is not a string, a dimension < 1, `dtype` not numeric, or the
        default value has another shape.
      TypeError: a dimension is not an integer, the default value has another type, or
        the normalizer is not callable.

    Example:
      >>> age = tf.feature_column.numeric_column("age")
      >>> tf.feature_column.input_layer({"age": [[30.0], [50.0]]}, [age])

    Source: python/feature_column/feature_column_v2.py.
    """
    sizes = checked_shape(shape, key)
    dtype = as_dtype(dtype)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(
            f"dtype must be convertible to float. dtype: {dtype}, key: {key}"
        )
    default_value = _checked_default(sizes, default_value, dtype, key)
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")
    check_key(key)
    return NumericColumn(key, sizes, default_value, dtype, normalizer_fn)


def checked_shape(shape: Any, key: Any) -> tuple[int, ...]:
    check_key(key)
    sizes = tuple(shape) if nest.is_sequence(shape) else (shape,)
    for size in sizes:
        if not isinstance(size, int):
            raise TypeError(
                f"shape dimensions must be integer. shape: {sizes}, key: {key}"
            )
        if size < 1:
            raise ValueError(
                f"shape dimensions must be greater than 0. shape: {sizes}, key: {key}"
            )
    return sizes


def _checked_default(sizes: tuple[int, ...], value: Any, dtype: DType, key: str) -> Any:
    """The default value as nested tuples of the shape `sizes`."""
    if value is None:
        return None
    if isinstance(value, int) or (isinstance(value, float) and dtype.is_floating):
        return _filled(sizes, value)
    if callable(getattr(value, "tolist", None)):  # an array
        value = value.tolist()
    if nest.is_sequence(value):
        if not _has_shape(value, sizes):
            raise ValueError(
                "The shape of default_value must be equal to given shape. "
                f"default_value: {value}, shape: {sizes}, key: {key}"
            )
        numbers = nest.flatten(value)
        if all(isinstance(number, int) for number in numbers):
            return _as_tuples(value)
        is_float = all(isinstance(number, int | float) for number in numbers)
        if is_float and dtype.is_floating:
            return _as_tuples(value)
    raise TypeError(
        "default_value must be compatible with dtype. "
        f"default_value: {value}, dtype: {dtype}, key: {key}"
    )


def _filled(sizes: tuple[int, ...], value: float) -> Any:
    if not sizes:
        return value
    return (_filled(sizes[1:], value),) * sizes[0]


def _as_tuples(value: Any) -> Any:
    return tuple(map(_as_tuples, value)) if nest.is_sequence(value) else value


def _has_shape(value: Any, sizes: tuple[int, ...]) -> bool:
    if not nest.is_sequence(value):
        return not sizes
    if not sizes or len(value) != sizes[0]:
        return False
    return all(_has_shape(item, sizes[1:]) for item in value)


class _Bucketized(NamedTuple):
    source_column: NumericColumn
    boundaries: tuple[float, ...]


class BucketizedColumn(DenseColumn, CategoricalColumn, _Bucketized):
    """See `bucketized_column`."""

    @property
    def name(self) -> str:
        return f"{self.source_column.name}_bucketized"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return self.source_column.parse_example_spec

    @property
    def parents(self) -> list[Any]:
        return [self.source_column]

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape((*self.source_column.shape, self._buckets_of_one))

    @property
    def num_buckets(self) -> int:
        return self._buckets_of_one * self.source_column.shape[0]

    @property
    def _buckets_of_one(self) -> int:
        """The number of buckets of each component of the source."""
        return len(self.boundaries) + 1

    def transform_feature(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> Tensor:
        source = transformation_cache.get(self.source_column, state_manager)
        buckets: Tensor = Bucketize(self.boundaries)(source)
        return buckets

    def get_dense_tensor(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> Tensor:
        buckets = transformation_cache.get(self, state_manager)
        return one_hot(
            cast(buckets, int64), self._buckets_of_one, on_value=1.0, off_value=0.0
        )

    def get_sparse_tensors(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> IdWeightPair:
        """One id for each component; those of different components are distinct."""
        buckets = transformation_cache.get(self, state_manager)
        batch_size = shape_of(buckets)[0]
        width = self.source_column.shape[0]
        examples = expand_dims(range_of(0, batch_size), 1)
        examples = reshape(tile(examples, [1, width]), (-1,))
        components = tile(range_of(0, width), [batch_size])
        ids = reshape(buckets, (-1,)) + self._buckets_of_one * components
        indices = cast(transpose(stack((examples, components))), int64)
        sizes = cast(stack([batch_size, width]), int64)
        return IdWeightPair(SparseTensor(indices, ids, sizes), None)


@export("feature_column.bucketized_column")
def bucketized_column(
    source_column: NumericColumn, boundaries: Iterable[float]
) -> BucketizedColumn:
    """A column of numbers, each as the bucket it falls into.

    Bucket i is [boundaries[i - 1], boundaries[i]); the first and the last are open.

    Args:
      source_column: a column of `numeric_column` of rank 1.
      boundaries: a list of ascending numbers.

    Returns:
      A BucketizedColumn, dense (one-hot) and categorical.

    Raises:
      ValueError: another kind of source, of rank > 1, or boundaries that do not ascend.

    Example:
      >>> age = tf.feature_column.numeric_column("age")
      >>> ages = tf.feature_column.bucketized_column(age, [18, 65])  # 3 buckets

    Source: python/feature_column/feature_column_v2.py.
    """
    if not isinstance(source_column, NumericColumn):
        raise ValueError(
            "source_column must be a column generated with numeric_column(). "
            f"Given: {source_column}"
        )
    if len(source_column.shape) > 1:
        raise ValueError(
            f"source_column must be one-dimensional column. Given: {source_column}"
        )
    if not boundaries:
        raise ValueError("boundaries must not be empty.")
    if not isinstance(boundaries, list | tuple):
        raise ValueError("boundaries must be a sorted list.")
    if any(a >= b for a, b in pairwise(boundaries)):
        raise ValueError("boundaries must be a sorted list.")
    return BucketizedColumn(source_column, tuple(boundaries))
