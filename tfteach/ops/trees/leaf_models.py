"""What the leaves of a random forest know of their examples, and predict.

A leaf's statistics are an array whose last axis is `width` sums over examples.

Source: contrib/tensor_forest/kernels/v4 (leaf_model_operators, grow_stats).
"""

from __future__ import annotations

import abc
from typing import Any

import numpy as np

from tfteach.framework.errors import invalid_argument

_FLAT = 1e-9  # relative: sums of squares in float64 that differ by less are equal


class LeafModel(abc.ABC):
    """How leaves sum examples, how mixed they are, and what they predict.

    Args:
      outputs: the number of classes, or of numbers that are predicted.
    """

    def __init__(self, outputs: int) -> None:
        self.outputs = outputs

    @property
    @abc.abstractmethod
    def width(self) -> int:
        """The number of sums."""

    @abc.abstractmethod
    def targets(self, labels: Any) -> Any:
        """Labels as `parts` expects them.

        Raises:
          InvalidArgumentError: the model has no such labels.
        """

    @abc.abstractmethod
    def parts(self, targets: Any, weights: Any) -> list[tuple[Any, Any]]:
        """(which sum, what each example adds to it): arrays over examples."""

    @abc.abstractmethod
    def sizes(self, sums: Any) -> Any:
        """The weights of all examples: sums without the last axis."""

    @abc.abstractmethod
    def impurity(self, sums: Any) -> Any:
        """How mixed the examples are, times their weight; nan without examples."""

    @abc.abstractmethod
    def is_mixed(self, sums: Any) -> bool:
        """Whether a split may be worth it."""

    @abc.abstractmethod
    def leaf(self, sums: Any) -> Any:
        """The values [outputs] of a leaf of such examples."""

    @abc.abstractmethod
    def updated(self, leaf: Any, sums: Any) -> Any:
        """The values of a leaf that sees further examples."""

    @abc.abstractmethod
    def prediction(self, leaf: Any) -> Any:
        """What a leaf of these values predicts, [outputs]."""


class ClassCounts(LeafModel):
    """Weights of classes, compared by their Gini impurity."""

    @property
    def width(self) -> int:
        return self.outputs

    def targets(self, labels: Any) -> Any:
        found = labels.reshape(-1).astype(np.int64)
        if found.size and not (found.min() >= 0 and found.max() < self.outputs):
            raise invalid_argument(
                f"Labels must be classes in [0, {self.outputs}), got "
                f"{int(found.min())} to {int(found.max())}"
            )
        return found

    def parts(self, targets: Any, weights: Any) -> list[tuple[Any, Any]]:
        return [(targets, weights)]

    def sizes(self, sums: Any) -> Any:
        return sums.sum(axis=-1)

    def impurity(self, sums: Any) -> Any:
        sizes = self.sizes(sums)
        with np.errstate(invalid="ignore", divide="ignore"):
            return sizes - (sums**2).sum(axis=-1) / sizes

    def is_mixed(self, sums: Any) -> bool:
        return bool(np.count_nonzero(sums) > 1)

    def leaf(self, sums: Any) -> Any:
        return sums.copy()

    def updated(self, leaf: Any, sums: Any) -> Any:
        return leaf + sums

    def prediction(self, leaf: Any) -> Any:
        return leaf / max(leaf.sum(), 1e-30)


class Moments(LeafModel):
    """Weight, sums and sums of squares of numbers, compared by their variance.

    As in TensorFlow, a leaf predicts the mean of the examples that chose its parent's
    split: it does not learn from later ones.
    """

    @property
    def width(self) -> int:
        return 1 + 2 * self.outputs

    def targets(self, labels: Any) -> Any:
        found = labels.reshape(len(labels), -1).astype(np.float64)
        if found.shape[1] != self.outputs:
            raise invalid_argument(
                f"Labels must have shape [examples, {self.outputs}], got "
                f"{list(labels.shape)}"
            )
        return found

    def parts(self, targets: Any, weights: Any) -> list[tuple[Any, Any]]:
        found: list[tuple[Any, Any]] = [(0, weights)]
        for output in range(self.outputs):
            weighed = weights * targets[:, output]
            found.append((1 + output, weighed))
            found.append((1 + self.outputs + output, weighed * targets[:, output]))
        return found

    def sizes(self, sums: Any) -> Any:
        return sums[..., 0]

    def impurity(self, sums: Any) -> Any:
        firsts, squares = np.split(sums[..., 1:], 2, axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return (squares - firsts**2 / sums[..., :1]).sum(axis=-1)

    def is_mixed(self, sums: Any) -> bool:
        squares = sums[1 + self.outputs :].sum()
        return bool(self.impurity(sums) > _FLAT * squares)

    def leaf(self, sums: Any) -> Any:
        return sums[1 : 1 + self.outputs] / sums[0]

    def updated(self, leaf: Any, sums: Any) -> Any:
        return leaf

    def prediction(self, leaf: Any) -> Any:
        return leaf
