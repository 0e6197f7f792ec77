"""Examples of random forests: dense rows, or sparse ones.

Source: contrib/tensor_forest/kernels/data_spec.h, tree_utils.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfteach.framework.errors import invalid_argument


class SparseExamples:
    """The elements of a SparseTensor [examples, features]; others are 0.

    Indexed as the dense array would be: `examples[rows, features]`.
    """

    def __init__(self, indices: Any, values: Any, shape: Any) -> None:
        count, width = (int(size) for size in shape)
        self.shape = (count, width)
        keys = indices[:, 0] * width + indices[:, 1]
        order = np.argsort(keys, kind="stable")
        self._keys, self._values = keys[order], values[order]
        self._features = indices[order, 1]
        self._starts = np.searchsorted(indices[order, 0], np.arange(count + 1))

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, at: tuple[Any, Any]) -> Any:
        rows, features = np.broadcast_arrays(*at)
        if not len(self._keys):
            return np.zeros(rows.shape, np.float32)
        keys = rows * self.shape[1] + features
        places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        is_there = self._keys[places] == keys
        return np.where(is_there, self._values[places], 0).astype(np.float32)

    def drawn_features(self, rows: Any, random: np.random.Generator) -> Any:
        """A random feature of each row: one with an element, if there is one."""
        starts, ends = self._starts[rows], self._starts[rows + 1]
        drawn = random.integers(self.shape[1], size=len(rows))
        some = np.flatnonzero(ends > starts)
        places = random.integers(starts[some], ends[some])
        drawn[some] = self._features[places]
        return drawn


def drawn_features(examples: Any, rows: Any, random: np.random.Generator) -> Any:
    """A random feature for each of the rows, int64."""
    if isinstance(examples, SparseExamples):
        return examples.drawn_features(rows, random)
    return random.integers(examples.shape[1], size=len(rows))


def examples_of(dense: Any, indices: Any, values: Any, shape: Any) -> Any:
    """An array [examples, features], or SparseExamples.

    Raises:
      InvalidArgumentError: they are no matrix, or both dense and sparse.
    """
    if np.size(shape):
        if np.size(dense):
            raise invalid_argument(
                "Forests of dense and sparse features together are not supported: "
                "pass one of them"
            )
        if np.size(shape) != 2:
            raise invalid_argument(
                "sparse_input_shape must be [examples, features], got "
                f"{np.asarray(shape).tolist()}"
            )
        return SparseExamples(indices.reshape(-1, 2), values, shape)
    if dense.ndim != 2:
        raise invalid_argument(
            f"input_data must have shape [examples, features], got {list(dense.shape)}"
        )
    return dense
