"""Fetching and feeding of composite tensors: sparse tensors and IndexedSlices.

Source: python/client/session.py (`_REGISTERED_EXPANSIONS`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.engine.session.fetches import register_session_run_conversion_functions
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.operation import Tensor
from tfteach.ops.core.sparse_tensor import (
    IndexedSlicesValue,
    SparseTensor,
    SparseTensorValue,
)

Parts = list[Tensor]


def _sparse_parts(sparse: SparseTensor) -> Parts:
    return [sparse.indices, sparse.values, sparse.dense_shape]


def _fetch_sparse(sparse: SparseTensor) -> tuple[Parts, Callable[[list[Any]], Any]]:
    return _sparse_parts(sparse), lambda values: SparseTensorValue(*values)


def _slices_parts(slices: IndexedSlices) -> Parts:
    parts = [slices.values, slices.indices]
    return parts if slices.dense_shape is None else [*parts, slices.dense_shape]


def _fetch_slices(slices: IndexedSlices) -> tuple[Parts, Callable[[list[Any]], Any]]:
    missing = [] if slices.dense_shape is not None else [None]
    return _slices_parts(slices), lambda values: IndexedSlicesValue(*values, *missing)


def _feeder(parts_of: Callable[[Any], Parts]) -> Callable[[Any, Any], Any]:
    def feed(key: Any, value: Any) -> list[tuple[Tensor, Any]]:
        parts = parts_of(key)
        values = tuple(value)
        if len(values) < len(parts):
            raise ValueError(
                f"A feed for a {type(key).__name__} needs {len(parts)} arrays, in the "
                f"order of its fields, got {len(values)}"
            )
        return list(zip(parts, values, strict=False))

    return feed


register_session_run_conversion_functions(
    SparseTensor, _fetch_sparse, _feeder(_sparse_parts), _sparse_parts
)
register_session_run_conversion_functions(
    IndexedSlices, _fetch_slices, _feeder(_slices_parts), _slices_parts
)
