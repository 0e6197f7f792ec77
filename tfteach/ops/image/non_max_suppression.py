"""Non-maximum suppression: the best of many overlapping boxes.

Source: core/ops/image_ops.cc; core/kernels/non_max_suppression_op.cc (messages);
python/ops/image_ops_impl.py (names).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import dtypes_of, float32
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import MultiOutputOp, Op
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, TensorLike
from tfteach.ops.image import nms_kernels as kernels

_FLOATS = dtypes_of("half float32")
_LOWEST = float("-inf")


def require_scalar(value: Any, name: str) -> None:
    if value.ndim:
        raise invalid_argument(
            f"{name} must be 0-D, got shape {shapes.text(value.shape)}"
        )


def require_similarity(value: Any, name: str = "iou_threshold") -> None:
    require_scalar(value, name)
    if not 0 <= value <= 1:
        raise invalid_argument("iou_threshold must be in [0, 1]")


def _is_shape(value: Any) -> bool:
    return value is None or isinstance(value, tuple)


def require_columns(size: int | None) -> None:
    if size not in (None, 4):
        raise ValueError(f"Dimension must be 4 but is {size}")


class _Suppression(Op, abstract=True):
    """Boxes [n, 4], scores [n] and limits as inputs; the selected indices as output."""

    on_gpu: ClassVar[bool] = False
    pad_to_max_output_size = False
    by_value_or_shape: ClassVar[tuple[str, ...]] = ("max_output_size",)

    def infer_shape(
        self, boxes: Shape, scores: Shape, max_output_size: Any, *limits: Shape
    ) -> Any:
        rows, columns = shapes.with_rank(boxes, 2)
        (count,) = shapes.with_rank(scores, 1)
        size = None
        if _is_shape(max_output_size):
            shapes.with_rank(max_output_size, 0)
        else:
            shapes.with_rank(max_output_size.shape, 0)
            size = int(max_output_size)
        for limit in limits:
            shapes.with_rank(limit, 0)
        shapes.same_size(rows, count)
        self.check_columns(rows, columns)
        return self.shapes_of(size if self.pad_to_max_output_size else None)

    def check_columns(self, rows: int | None, columns: int | None) -> None:
        require_columns(columns)

    def shapes_of(self, size: int | None) -> Any:
        """The output shapes, given the number of selected boxes."""
        return (size,)

    def check(self, boxes: Any, scores: Any, size: Any) -> None:
        """Check shapes at run time."""
        require_scalar(size, "max_output_size")
        if boxes.ndim != 2:
            raise invalid_argument(f"boxes must be 2-D{shapes.text(boxes.shape)}")
        if boxes.shape[1] != 4:
            raise invalid_argument("boxes must have 4 columns")
        self.check_scores(scores, len(boxes))

    def check_scores(self, scores: Any, count: int) -> None:
        if scores.ndim != 1:
            raise invalid_argument(f"scores must be 1-D{shapes.text(scores.shape)}")
        if len(scores) != count:
            raise invalid_argument("scores has incompatible shape")

    def chosen(
        self, boxes: Any, scores: Any, size: Any, similarity: Any,
        score: Any = None, sigma: Any = None,
    ) -> kernels.Chosen:  # fmt: skip
        """The selected boxes, without padding."""
        self.check(boxes, scores, size)
        require_similarity(similarity)
        least = np.float32(_LOWEST)
        if score is not None:
            require_scalar(score, "score_threshold")
            least = score
        if sigma is not None:
            require_scalar(sigma, "soft_nms_sigma")
            if sigma < 0:
                raise invalid_argument("soft_nms_sigma_val must be >= 0")
        limits = kernels.Limits(
            int(size), similarity, least, 0.0 if sigma is None else sigma
        )
        return kernels.select(kernels.overlap_of(boxes), scores, limits)

    def compute(self, xp: ArrayModule, *inputs: Any) -> Any:
        return self.chosen(*inputs).indices

    def padded(self, values: Any, size: Any) -> Any:
        """Values padded with zeros up to the size, if requested."""
        if self.pad_to_max_output_size and len(values) < size:
            return np.concatenate([values, np.zeros(size - len(values), values.dtype)])
        return values


class NonMaxSuppression(_Suppression):
    """The best boxes with little overlap.

    Source: core/ops/image_ops.cc, NonMaxSuppression.
    """

    signature = (
        "boxes: float32, scores: float32, max_output_size: int32 "
        "-> selected_indices: int32"
    )
    iou_threshold: float = 0.5
    stops_gradients: ClassVar[bool] = True

    def compute(
        self, xp: ArrayModule, boxes: Array, scores: Array, max_output_size: Array
    ) -> Any:
        limit = np.float32(self.iou_threshold)
        return super().compute(xp, boxes, scores, max_output_size, limit)


class _OfThresholds(_Suppression, abstract=True):
    """Suppression with thresholds as inputs."""

    T = T_threshold = _FLOATS
    T_default = T_threshold_default = float32


class NonMaxSuppressionV2(_OfThresholds):
    """NonMaxSuppression with the overlap threshold as an input.

    Source: core/ops/image_ops.cc, NonMaxSuppressionV2.
    """

    signature = (
        "boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold "
        "-> selected_indices: int32"
    )
    stops_gradients: ClassVar[bool] = True


class NonMaxSuppressionV3(_OfThresholds):
    """NonMaxSuppressionV2 with a score threshold.

    Source: core/ops/image_ops.cc, NonMaxSuppressionV3.
    """

    signature = (
        "boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, "
        "score_threshold: T_threshold -> selected_indices: int32"
    )


class NonMaxSuppressionV4(_OfThresholds, MultiOutputOp):
    """NonMaxSuppressionV3 that can pad its output with zeros.

    Source: core/ops/image_ops.cc, NonMaxSuppressionV4.
    """

    signature = (
        "boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, "
        "score_threshold: T_threshold -> selected_indices: int32, valid_outputs: int32"
    )
    pad_to_max_output_size: bool = False

    def shapes_of(self, size: int | None) -> Any:
        return [(size,), ()]

    def compute(self, xp: ArrayModule, *inputs: Any) -> Any:
        found = self.chosen(*inputs).indices
        return self.padded(found, inputs[2]), np.int32(len(found))


class NonMaxSuppressionV5(_Suppression, MultiOutputOp):
    """NonMaxSuppressionV4 with soft suppression, which reduces scores.

    Source: core/ops/image_ops.cc, NonMaxSuppressionV5; Bodla et al., "Soft-NMS" (2017).
    """

    signature = (
        "boxes: T, scores: T, max_output_size: int32, iou_threshold: T, "
        "score_threshold: T, soft_nms_sigma: T "
        "-> selected_indices: int32, selected_scores: T, valid_outputs: int32"
    )
    T = _FLOATS
    T_default = float32
    pad_to_max_output_size: bool = False

    def shapes_of(self, size: int | None) -> Any:
        return [(size,), (size,), ()]

    def compute(self, xp: ArrayModule, *inputs: Any) -> Any:
        found = self.chosen(*inputs)
        padded = (self.padded(values, inputs[2]) for values in found)
        return (*padded, np.int32(len(found.indices)))


class NonMaxSuppressionWithOverlaps(_Suppression):
    """Suppression with a given matrix of overlaps.

    Source: core/ops/image_ops.cc, NonMaxSuppressionWithOverlaps.
    """

    signature = (
        "overlaps: float32, scores: float32, max_output_size: int32, "
        "overlap_threshold: float32, score_threshold: float32 "
        "-> selected_indices: int32"
    )
    stops_gradients: ClassVar[bool] = True

    def check_columns(self, rows: int | None, columns: int | None) -> None:
        shapes.same_size(rows, columns)

    def check(self, overlaps: Any, scores: Any, size: Any) -> None:
        require_scalar(size, "max_output_size")
        if overlaps.ndim != 2:
            raise invalid_argument(f"overlaps must be 2-D{shapes.text(overlaps.shape)}")
        if overlaps.shape[0] != overlaps.shape[1]:
            raise invalid_argument(
                f"overlaps must be square{shapes.text(overlaps.shape)}"
            )
        self.check_scores(scores, len(overlaps))

    def compute(
        self, xp: ArrayModule, overlaps: Array, scores: Array, max_output_size: Array,
        overlap_threshold: Array, score_threshold: Array,
    ) -> Any:  # fmt: skip
        self.check(overlaps, scores, max_output_size)
        require_scalar(overlap_threshold, "overlap_threshold")
        require_scalar(score_threshold, "score_threshold")
        limits = kernels.Limits(
            int(max_output_size), overlap_threshold, score_threshold
        )

        def similarity(candidates: Any, selected: Any) -> Any:
            return overlaps[candidates, selected]

        return kernels.select(similarity, scores, limits).indices


# ---- functions


@export("image.non_max_suppression")
def non_max_suppression(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = _LOWEST,
    name: str | None = None,
) -> Tensor:
    """The indices of the best boxes, without those that overlap a better one.

    Args:
      boxes: float Tensor [n, 4] of `[y1, x1, y2, x2]`, any two opposite corners.
      scores: float Tensor [n].
      max_output_size: int32 scalar, the maximum number of boxes.
      iou_threshold: float scalar in [0, 1]: boxes with at least this intersection over
        union are dropped.
      score_threshold: float scalar: boxes need a higher score.
      name: the name scope of its ops.

    Returns:
      An int32 Tensor [m], the best first.

    Raises:
      ValueError: the shapes do not match.
      tf.errors.InvalidArgumentError: (when run) shapes do not match, or `iou_threshold`
        is not in [0, 1].

    Example:
      >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1], [0.0, 2.0, 1.0, 3.0]]
      >>> best = tf.image.non_max_suppression(boxes, [0.7, 0.9, 0.8], 3)  # 1, 2

    Source: NonMaxSuppressionV3 in core/ops/image_ops.cc.
    """
    with name_scope(name, "non_max_suppression"):
        limits = _limits(iou_threshold, score_threshold)
        return NonMaxSuppressionV3()(boxes, scores, max_output_size, *limits)


def _limits(similarity: Any, score: Any) -> tuple[Tensor, Tensor]:
    similarity = convert(similarity, name="iou_threshold")
    return similarity, convert(score, name="score_threshold")


@export("image.non_max_suppression_with_scores")
def non_max_suppression_with_scores(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = _LOWEST,
    soft_nms_sigma: TensorLike = 0.0,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """`tf.image.non_max_suppression` with optional soft suppression, and the scores.

    With `soft_nms_sigma > 0` a box's score is multiplied by `exp(-iou**2 / (2 *
    sigma))` for each better box.

    Args:
      boxes: float Tensor [n, 4] of `[y1, x1, y2, x2]`.
      scores: float Tensor [n].
      max_output_size: int32 scalar, the maximum number of boxes.
      iou_threshold: float scalar in [0, 1]: boxes with at least this intersection over
        union are dropped.
      score_threshold: float scalar: boxes need a higher score.
      soft_nms_sigma: float scalar, at least 0.
      name: the name scope of its ops.

    Returns:
      (int32 Tensor [m] of indices, the best first; their scores [m]).

    Raises:
      ValueError: the shapes do not match.
      tf.errors.InvalidArgumentError: (when run) a threshold is out of range.

    Example:
      >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.5, 1.0, 1.5]]
      >>> best, scores = tf.image.non_max_suppression_with_scores(
      ...     boxes, [0.7, 0.9], 2, soft_nms_sigma=0.5)  # 1, 0 with 0.9, 0.63

    Source: NonMaxSuppressionV5 in core/ops/image_ops.cc; Bodla et al., "Soft-NMS"
    (2017).
    """
    with name_scope(name, "non_max_suppression_with_scores"):
        limits = _limits(iou_threshold, score_threshold)
        sigma = convert(soft_nms_sigma, name="soft_nms_sigma")
        found = NonMaxSuppressionV5()(boxes, scores, max_output_size, *limits, sigma)
        return found[0], found[1]


@export("image.non_max_suppression_padded")
def non_max_suppression_padded(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = _LOWEST,
    pad_to_max_output_size: bool = False,
    name: str | None = None,
) -> Any:
    """`tf.image.non_max_suppression` with an output of fixed size.

    Args:
      boxes: float Tensor [n, 4] of `[y1, x1, y2, x2]`.
      scores: float Tensor [n].
      max_output_size: int32 scalar, the maximum number of boxes.
      iou_threshold: float scalar in [0, 1]: boxes with at least this intersection over
        union are dropped.
      score_threshold: float scalar: boxes need a higher score.
      pad_to_max_output_size: whether to pad the indices with zeros.
      name: the name scope of its ops.

    Returns:
      (int32 Tensor [m] or [max_output_size] of indices, the best first; an int32
      scalar, the number of boxes among them).

    Raises:
      ValueError: the shapes do not match.
      tf.errors.InvalidArgumentError: (when run) `iou_threshold` is not in [0, 1].

    Example:
      >>> indices, count = tf.image.non_max_suppression_padded(
      ...     [[0.0, 0.0, 1.0, 1.0]], [0.7], 2, pad_to_max_output_size=True)

    Source: NonMaxSuppressionV4 in core/ops/image_ops.cc.
    """
    with name_scope(name, "non_max_suppression_padded"):
        limits = _limits(iou_threshold, score_threshold)
        op = NonMaxSuppressionV4(pad_to_max_output_size)
        return op(boxes, scores, max_output_size, *limits)


@export("image.non_max_suppression_overlaps")
def non_max_suppression_with_overlaps(
    overlaps: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    overlap_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = _LOWEST,
    name: str | None = None,
) -> Tensor:
    """`tf.image.non_max_suppression` with a given matrix of overlaps.

    Args:
      overlaps: float32 Tensor [n, n].
      scores: float32 Tensor [n].
      max_output_size: int32 scalar, the maximum number of indices.
      overlap_threshold: float scalar: candidates with at least this overlap are
          dropped.
      score_threshold: float scalar: candidates need a higher score.
      name: the name scope of its ops.

    Returns:
      An int32 Tensor [m], the best first.

    Raises:
      ValueError: the shapes do not match.

    Example:
      >>> overlaps = [[1.0, 0.6], [0.6, 1.0]]
      >>> best = tf.image.non_max_suppression_overlaps(overlaps, [0.7, 0.9], 2)  # 1

    Source: NonMaxSuppressionWithOverlaps in core/ops/image_ops.cc.
    """
    with name_scope(name, "non_max_suppression_overlaps"):
        limit = convert(overlap_threshold, name="overlap_threshold")
        op = NonMaxSuppressionWithOverlaps()
        return op(overlaps, scores, max_output_size, limit, score_threshold)
