"""`tf.compat.v2.strings`.

Source: python/ops/string_ops.py.
"""

from __future__ import annotations

from tfteach.framework.dtypes import float32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.ops.text.string_conversion import string_to_hash_bucket, string_to_number
from tfteach.ops.text.string_ops import string_length, substr
from tfteach.ops.text.string_split import reduce_join


@export(v2="strings.length")
def string_length_v2(
    input: TensorLike,
    unit: str = "BYTE",
    name: str | None = None,
) -> Tensor:
    """`tf.strings.length`, its arguments in TensorFlow 2's order."""
    return string_length(input, unit=unit, name=name)


@export(v2="strings.reduce_join")
def reduce_join_v2(
    inputs: TensorLike,
    axis: TensorLike | None = None,
    keepdims: bool = False,
    separator: str = "",
    name: str | None = None,
) -> Tensor:
    """`tf.strings.reduce_join` without `keep_dims`, `reduction_indices`."""
    return reduce_join(inputs, axis, keepdims=keepdims, separator=separator, name=name)


@export(v2="strings.substr")
def substr_v2(
    input: TensorLike,
    pos: TensorLike,
    len: TensorLike,
    unit: str = "BYTE",
    name: str | None = None,
) -> Tensor:
    """`tf.strings.substr`, its arguments in TensorFlow 2's order."""
    return substr(input, pos, len, unit=unit, name=name)


@export(v2="strings.to_hash_bucket")
def string_to_hash_bucket_v2(
    input: TensorLike,
    num_buckets: int,
    name: str | None = None,
) -> Tensor:
    """`tf.strings.to_hash_bucket` without `string_tensor`."""
    return string_to_hash_bucket(input=input, num_buckets=num_buckets, name=name)


@export(v2="strings.to_number")
def string_to_number_v2(
    input: TensorLike,
    out_type: DTypeLike = float32,
    name: str | None = None,
) -> Tensor:
    """`tf.strings.to_number` without `string_tensor`."""
    return string_to_number(input=input, out_type=out_type, name=name)
