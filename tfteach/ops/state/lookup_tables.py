"""A session's lookup tables, which map keys to values.

Source: core/ops/lookup_ops.cc, core/kernels/lookup_table_op.cc, lookup_util.cc.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from tfteach.framework.dtypes import DType, string
from tfteach.framework.errors import FailedPreconditionError
from tfteach.framework.resource_names import ReferencedResource
from tfteach.ops.text.byte_string_arrays import strings

WHOLE_LINE, LINE_NUMBER = -2, -1


def _refused(message: str) -> FailedPreconditionError:
    return FailedPreconditionError(None, None, message)


class Table(ReferencedResource):
    """The dictionary that a table's handle refers to.

    Attributes:
      is_mutable: whether it may be written at any time; otherwise it is filled once.
      entries: key -> value; None until an immutable table is filled.
    """

    def __init__(
        self,
        key_dtype: DType,
        value_dtype: DType,
        is_mutable: bool,
        value_shape: tuple[int, ...] = (),
    ) -> None:
        self.key_dtype = key_dtype
        self.value_dtype = value_dtype
        self.is_mutable = is_mutable
        self.value_shape = value_shape
        self.entries: dict[Any, Any] | None = {} if is_mutable else None
        self._lock = threading.Lock()

    # Its handle is a scalar.
    shape: tuple[int, ...] = ()
    ndim = 0
    dtype = np.dtype(object)

    def filled(self) -> dict[Any, Any]:
        """The entries.

        Raises:
          FailedPreconditionError: the table has not been initialized.
        """
        if self.entries is None:
            raise _refused("Table not initialized.")
        return self.entries

    def fill(self, keys: Any, values: Any) -> None:
        """Fill the table once; filling it again requires the same number of entries."""
        pairs: dict[Any, Any] = {}
        for key, value in zip(_items(keys), _items(values), strict=True):
            if key in pairs and pairs[key] != value:
                raise _refused(
                    "HashTable has different value for same key. Key "
                    f"{_text(key)} has {_text(pairs[key])} and trying to add value "
                    f"{_text(value)}"
                )
            pairs[key] = value
        with self._lock:
            if self.entries is None:
                self.entries = pairs
            elif len(self.entries) != len(pairs):
                raise _refused("Table was already initialized with different data.")

    def insert(self, keys: Any, values: Any) -> None:
        """Insert or update entries."""
        rows = np.reshape(values, (np.size(keys), *self.value_shape))
        with self._lock:
            found = list(rows) if self.value_shape else _items(rows)
            self.filled().update(zip(_items(keys), found, strict=True))

    def remove(self, keys: Any) -> None:
        """Remove keys; missing keys are ignored."""
        with self._lock:
            for key in _items(keys):
                self.filled().pop(key, None)

    def find(self, keys: Any, default: Any) -> Any:
        """The value for each key, `default` for missing keys."""
        entries = self.filled()
        missing = default if self.value_shape else np.asarray(default).item()
        found = [entries.get(key, missing) for key in _items(keys)]
        return self.values(found, np.shape(keys))

    def export(self) -> tuple[Any, Any]:
        """All keys and all values."""
        entries = dict(self.filled())
        keys = table_array(list(entries), (len(entries),), self.key_dtype)
        return keys, self.values(list(entries.values()), (len(entries),))

    def values(self, found: list[Any], shape: tuple[int, ...]) -> Any:
        return table_array(found, (*shape, *self.value_shape), self.value_dtype)


def _items(array: Any) -> list[Any]:
    """The elements as Python values, usable as keys."""
    return np.asarray(array).ravel().tolist()


def table_array(values: list[Any], shape: tuple[int, ...], dtype: DType) -> Any:
    """Python values as an array of a table's type."""
    if dtype == string:
        return strings(values, shape)
    return np.array(values, dtype.as_numpy_dtype).reshape(shape)


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
