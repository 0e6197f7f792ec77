"""`tf.compat.v2.io`: CSV lines, examples and serialized sparse tensors.

Source: python/ops/parsing_ops.py, sparse_ops.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfteach.framework.dtypes import string
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.lib.parsing.examples import parse_example, parse_single_example
from tfteach.ops.core.sparse_tensor import SparseTensorLike
from tfteach.ops.io.decode_csv import decode_csv
from tfteach.ops.sparse.sparse_serialize import serialize_many_sparse, serialize_sparse


@export(v2="io.decode_csv")
def decode_csv_v2(
    records: TensorLike,
    record_defaults: Sequence[TensorLike],
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    select_cols: Sequence[int] | None = None,
    name: str | None = None,
) -> list[Tensor]:
    """`tf.io.decode_csv`, its arguments in TensorFlow 2's order."""
    return decode_csv(
        records,
        record_defaults,
        field_delim,
        use_quote_delim,
        na_value=na_value,
        select_cols=select_cols,
        name=name,
    )


@export(v2="io.parse_example")
def parse_example_v2(
    serialized: TensorLike,
    features: Mapping[str, Any],
    example_names: TensorLike | None = None,
    name: str | None = None,
) -> dict[str, Any]:
    """`tf.io.parse_example`, its arguments in TensorFlow 2's order."""
    return parse_example(serialized, features, example_names=example_names, name=name)


@export(v2="io.parse_single_example")
def parse_single_example_v2(
    serialized: TensorLike,
    features: Mapping[str, Any],
    example_names: TensorLike | None = None,
    name: str | None = None,
) -> dict[str, Any]:
    """`tf.io.parse_single_example`, its arguments in TensorFlow 2's order."""
    return parse_single_example(
        serialized, features, example_names=example_names, name=name
    )


@export(v2="io.serialize_many_sparse")
def serialize_many_sparse_v2(
    sp_input: SparseTensorLike,
    out_type: DTypeLike = string,
    name: str | None = None,
) -> Tensor:
    """`tf.io.serialize_many_sparse`, its arguments in TensorFlow 2's order."""
    return serialize_many_sparse(sp_input, out_type=out_type, name=name)


@export(v2="io.serialize_sparse")
def serialize_sparse_v2(
    sp_input: SparseTensorLike,
    out_type: DTypeLike = string,
    name: str | None = None,
) -> Tensor:
    """`tf.io.serialize_sparse`, its arguments in TensorFlow 2's order."""
    return serialize_sparse(sp_input, out_type=out_type, name=name)
