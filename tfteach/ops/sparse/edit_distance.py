"""Edit distances of sequences.  Source: core/ops/array_ops.cc, EditDistance."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import (
    require,
    require_matrix,
    require_sparse,
    require_vector,
)
from tfteach.framework.type_aliases import Array, ArrayModule
from tfteach.ops.core.sparse_tensor import SparseTensor, SparseTensorLike
from tfteach.ops.sparse.sparse_dense_math import as_sparse, parts_of
from tfteach.ops.sparse.sparse_shape import SparseShapeOp


class EditDistance(SparseShapeOp):
    """Levenshtein distances of sequences.  Source: array_ops.cc, EditDistance."""

    signature = (
        "hypothesis_indices: int64, hypothesis_values: T, hypothesis_shape: int64, "
        "truth_indices: int64, truth_values: T, truth_shape: int64 -> output: float32"
    )
    normalize: bool = True
    by_value: ClassVar[tuple[str, ...]] = ("hypothesis_shape", "truth_shape")
    stops_gradients: ClassVar[bool] = True

    def infer_shape(
        self,
        hi: Shape,
        hv: Shape,
        hypothesis: Any,
        ti: Shape,
        tv: Shape,
        truth: Any,
    ) -> Shape:
        if hypothesis is None or truth is None:
            return None
        pairs = zip(hypothesis[:-1], truth[:-1], strict=True)
        return tuple(int(max(pair)) for pair in pairs)

    def check_shapes(self, *shapes: tuple[int, ...]) -> None:
        sides = ("hypothesis", shapes[:3]), ("truth", shapes[3:])
        for name, (indices, values, shape) in sides:
            message = f"{name}_indices should be a matrix, but got shape: %s"
            require_matrix(indices, message)
            message = f"{name}_values should be a vector, but got shape: %s"
            require_vector(values, message)
            message = f"{name}_shape should be a vector, but got shape: %s"
            require_vector(shape, message)
            message = f"Expected {name}_shape.NumElements == #cols({name}_indices), "
            message += "their shapes are: %s and %s"
            require(shape == indices[1:], message, shape, indices)
        for _, parts in sides:
            require_sparse(*parts)
        message = "Expected hypothesis_shape.NumElements == truth_shape.NumElements, "
        message += "their shapes are: %s and %s"
        require(shapes[2] == shapes[5], message, shapes[2], shapes[5])

    def compute(
        self,
        xp: ArrayModule,
        hi: Array,
        hv: Array,
        hypothesis: Array,
        ti: Array,
        tv: Array,
        truth: Array,
    ) -> Any:
        sizes = [int(max(p)) for p in zip(hypothesis[:-1], truth[:-1], strict=True)]
        ours, theirs = _sequences(hi, hv), _sequences(ti, tv)
        found = np.zeros(sizes, np.float32)
        for place in ours.keys() | theirs.keys():
            wanted = theirs.get(place, [])
            distance = float(_distance(ours.get(place, []), wanted))
            if self.normalize:
                if wanted:
                    distance /= len(wanted)
                elif distance:
                    distance = np.inf
            found[place] = distance
        return found


def _sequences(indices: Any, values: Any) -> dict[tuple[int, ...], list[Any]]:
    found: dict[tuple[int, ...], list[Any]] = {}
    for index, value in zip(indices, values, strict=True):
        found.setdefault(tuple(int(i) for i in index[:-1]), []).append(value)
    return found


def _distance(a: list[Any], b: list[Any]) -> int:
    """The minimum number of insertions, deletions and substitutions from `a` to `b`."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            best = min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
            diagonal, row[j] = row[j], best
    return row[-1]


@export("edit_distance")
def edit_distance(
    hypothesis: SparseTensorLike,
    truth: SparseTensorLike,
    normalize: bool = True,
    name: str = "edit_distance",
) -> Tensor:
    """The Levenshtein distance of each hypothesis to its truth.

    Args:
      hypothesis, truth: SparseTensors of one type; sequences lie along the last axis.
      normalize: divide by the length of the truth (inf if that is empty).
      name: the op's name.

    Returns:
      A float32 Tensor of the sparse tensors' shape without the last axis.

    Raises:
      TypeError: an argument is not a SparseTensor.

    Source: EditDistance in core/ops/array_ops.cc.
    """
    for what, value in (("Hypothesis", hypothesis), ("Truth", truth)):
        if not isinstance(value, SparseTensor) and not hasattr(value, "dense_shape"):
            raise TypeError(f"{what} must be a SparseTensor.")
    parts = parts_of(as_sparse(hypothesis), as_sparse(truth))
    return EditDistance(normalize)(*parts, name=name)
