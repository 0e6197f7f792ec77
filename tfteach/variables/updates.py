"""Methods of variables for partial updates.

Source: python/ops/variables.py, resource_variable_ops.py (API).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.ops.state import scatter_functions


class PartUpdates:
    """`scatter_add(tf.IndexedSlices(values, indices))` etc., for both kinds."""

    def scatter_update(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Assign an IndexedSlices' values to rows; a Tensor of the new value."""
        return _apply(
            scatter_functions.scatter_update, self, sparse_delta, use_locking, name
        )

    def scatter_add(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Add an IndexedSlices; a Tensor of the new value."""
        return _apply(
            scatter_functions.scatter_add, self, sparse_delta, use_locking, name
        )

    def scatter_sub(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Subtract an IndexedSlices; a Tensor of the new value."""
        return _apply(
            scatter_functions.scatter_sub, self, sparse_delta, use_locking, name
        )

    def scatter_mul(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Multiply rows by an IndexedSlices' values."""
        return _apply(
            scatter_functions.scatter_mul, self, sparse_delta, use_locking, name
        )

    def scatter_div(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Divide rows by an IndexedSlices' values."""
        return _apply(
            scatter_functions.scatter_div, self, sparse_delta, use_locking, name
        )

    def scatter_min(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """The minimum of rows and an IndexedSlices' values."""
        return _apply(
            scatter_functions.scatter_min, self, sparse_delta, use_locking, name
        )

    def scatter_max(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """The maximum of rows and an IndexedSlices' values."""
        return _apply(
            scatter_functions.scatter_max, self, sparse_delta, use_locking, name
        )

    def batch_scatter_update(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """See `tf.batch_scatter_update`."""
        return _apply(
            scatter_functions.batch_scatter_update,
            self,
            sparse_delta,
            use_locking,
            name,
        )

    def scatter_nd_update(
        self, indices: Any, updates: Any, name: str | None = None
    ) -> Any:
        """Assign to elements or slices; see `tf.scatter_nd_update`."""
        return scatter_functions.scatter_nd_update(self, indices, updates, True, name)

    def scatter_nd_add(
        self, indices: Any, updates: Any, name: str | None = None
    ) -> Any:
        """Add to elements or slices; see `tf.scatter_nd_update`."""
        return scatter_functions.scatter_nd_add(self, indices, updates, True, name)

    def scatter_nd_sub(
        self, indices: Any, updates: Any, name: str | None = None
    ) -> Any:
        """Subtract from elements or slices; see `tf.scatter_nd_update`."""
        return scatter_functions.scatter_nd_sub(self, indices, updates, True, name)


def _apply(
    update: Callable[..., Any], variable: Any, delta: Any, locking: bool,
    name: str | None,
) -> Any:  # fmt: skip
    if not isinstance(delta, IndexedSlices):
        raise TypeError(f"sparse_delta is not IndexedSlices: {delta}")
    return update(variable, delta.indices, delta.values, locking, name)
