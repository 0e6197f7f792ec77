"""Non-maximum suppression for all classes of a batch of images.

Source: core/ops/image_ops.cc; core/kernels/non_max_suppression_op.cc (messages);
python/ops/image_ops_impl.py (names).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import float32
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import MultiOutputOp
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, TensorLike
from tfteach.ops.image import nms_kernels as kernels
from tfteach.ops.image.non_max_suppression import (
    require_columns,
    require_scalar,
    require_similarity,
)

_LOWEST = float("-inf")


def _known_size(value: Any, position: int) -> int | None:
    """The value of a size input, if it is known."""
    is_shape = value is None or isinstance(value, tuple)
    shapes.with_rank(value if is_shape else value.shape, 0)
    if is_shape:
        return None
    if value < 0:
        raise ValueError(
            f"Dimension size, given by scalar input {position}, must be non-negative "
            f"but is {value}"
        )
    return int(value)


class CombinedNonMaxSuppression(MultiOutputOp):
    """The best boxes of each class, then the best of all classes, for each image.

    Source: core/ops/image_ops.cc, CombinedNonMaxSuppression.
    """

    signature = (
        "boxes: float32, scores: float32, max_output_size_per_class: int32, "
        "max_total_size: int32, iou_threshold: float32, score_threshold: float32 "
        "-> nmsed_boxes: float32, nmsed_scores: float32, nmsed_classes: float32, "
        "valid_detections: int32"
    )
    pad_per_class: bool = False
    clip_boxes: bool = True
    on_gpu: ClassVar[bool] = False
    by_value_or_shape: ClassVar[tuple[str, ...]] = (
        "max_output_size_per_class",
        "max_total_size",
    )

    def infer_shape(
        self, boxes: Shape, scores: Shape, per_class: Shape, total: Shape,
        similarity: Shape, score: Shape,
    ) -> Any:  # fmt: skip
        batch, count, kinds, columns = shapes.with_rank(boxes, 4)
        images, rows, classes = shapes.with_rank(scores, 3)
        own, whole = _known_size(per_class, 2), _known_size(total, 3)
        shapes.with_rank(similarity, 0)
        shapes.with_rank(score, 0)
        require_columns(columns)
        shapes.same_size(batch, images)
        shapes.same_size(count, rows)
        if None not in (kinds, classes) and kinds not in (1, classes):
            raise ValueError(
                "third dimension of boxes must be either 1 or equal to the third "
                "dimension of scores"
            )
        if whole == 0:
            raise ValueError("max_total_size should be > 0 ")
        size = whole
        if self.pad_per_class:
            if own and classes is None:  # TensorFlow: unknown = -1
                raise ValueError(f"Dimension {-own} must be >= 0")
            each = None if own is None else own * (classes or 0)
            size = None if each is None or whole is None else min(each, whole)
        return [(batch, size, 4), (batch, size), (batch, size), (batch,)]

    def check(self, boxes: Any, scores: Any, *scalars: Any) -> None:
        """Check shapes and limits at run time."""
        names = "max_size_per_class max_total_size iou_threshold score_threshold"
        for name, value in zip(names.split(), scalars, strict=True):
            require_scalar(value, name)
        require_similarity(scalars[2])
        if scalars[1] <= 0:
            raise invalid_argument(
                f"max_total_size must be > 0, got {scalars[1]}; max_size_per_class is "
                f"{scalars[0]}"
            )
        if self.pad_per_class and scalars[0] < 0:
            raise invalid_argument(
                f"max_size_per_class must be >= 0 to pad by class, got {scalars[0]}"
            )
        if boxes.ndim != 4 or scores.ndim != 3 or len(boxes) != len(scores):
            raise invalid_argument("boxes and scores must have same batch size")
        if boxes.shape[1] != scores.shape[1]:
            raise invalid_argument("scores has incompatible shape")
        if boxes.shape[2] not in (1, scores.shape[2]):
            raise invalid_argument(
                "third dimension of boxes must be either 1 or num classes"
            )
        if boxes.shape[3] != 4:
            raise invalid_argument("boxes must have 4 columns")

    def compute(
        self, xp: ArrayModule, boxes: Array, scores: Array, per_class: Array,
        total: Array,
        similarity: Array, score: Array,
    ) -> Any:  # fmt: skip
        self.check(boxes, scores, per_class, total, similarity, score)
        limits = kernels.Limits(int(per_class), similarity, score)
        batch, _, classes = scores.shape
        size = int(total)
        if self.pad_per_class:
            size = min(size, limits.size * classes)
        found_boxes = np.zeros((batch, size, 4), np.float32)
        found_scores = np.zeros((batch, size), np.float32)
        found_classes = np.zeros((batch, size), np.float32)
        counts = np.zeros(batch, np.int32)
        for i in range(batch):
            of, kind, which = self._image(boxes[i], scores[i], limits, size)
            count = counts[i] = len(of)
            found_scores[i, :count] = scores[i, of, kind]
            found_classes[i, :count] = kind
            found_boxes[i, :count] = boxes[i, of, which]
        if self.clip_boxes:
            np.clip(found_boxes, 0, 1, out=found_boxes)
        return found_boxes, found_scores, found_classes, counts

    def _image(self, boxes: Any, scores: Any, limits: Any, size: int) -> Any:
        """(box, class, index of the class's boxes) of each detection."""
        parts = []
        for kind in range(scores.shape[1]):
            which = min(kind, boxes.shape[1] - 1)
            of = kernels.per_class(boxes[:, which], scores[:, kind], limits)
            parts.append([of, np.full_like(of, kind), np.full_like(of, which)])
        if not parts:
            return np.zeros((3, 0), np.intp)
        joined: Any = np.concatenate(parts, axis=1)
        order = kernels.sorted_order(scores[joined[0], joined[1]])
        return joined[:, order[:size]]


@export("image.combined_non_max_suppression")
def combined_non_max_suppression(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size_per_class: TensorLike,
    max_total_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = _LOWEST,
    pad_per_class: bool = False,
    clip_boxes: bool = True,
    name: str | None = None,
) -> Any:
    """The best boxes of all classes in each image of a batch.

    Args:
      boxes: float32 Tensor [batch, n, q, 4] of `[y1, x1, y2, x2]`; q is 1, or the
        number of classes if each class has its own boxes.
      scores: float32 Tensor [batch, n, classes].
      max_output_size_per_class: int32 scalar, the maximum number of boxes per class.
      max_total_size: int32 scalar, the maximum number of boxes per image.
      iou_threshold: float scalar in [0, 1]: boxes with a larger intersection over union
        are dropped.
      score_threshold: float scalar: boxes need a higher score.
      pad_per_class: whether the outputs have at most `max_output_size_per_class *
        classes` rows instead of `max_total_size`.
      clip_boxes: whether to clip the coordinates to [0, 1].
      name: the name scope of its ops.

    Returns:
      (boxes [batch, rows, 4], scores [batch, rows], classes [batch, rows], counts
      [batch]), float32 except the int32 counts; unused rows are zeros.

    Raises:
      ValueError: the shapes do not match.
      tf.errors.InvalidArgumentError: (when run) `iou_threshold` is not in [0, 1].

    Example:
      >>> boxes = tf.constant([[[[0.0, 0.0, 1.0, 1.0]], [[0.0, 0.1, 1.0, 1.0]]]])
      >>> scores = tf.constant([[[0.9, 0.1], [0.8, 0.7]]])
      >>> found = tf.image.combined_non_max_suppression(boxes, scores, 1, 4)

    Source: CombinedNonMaxSuppression in core/ops/image_ops.cc.
    """
    with name_scope(name, "combined_non_max_suppression"):
        similarity = convert(iou_threshold, float32, "iou_threshold")
        score = convert(score_threshold, float32, "score_threshold")
        sizes = max_output_size_per_class, max_total_size
        op = CombinedNonMaxSuppression(pad_per_class, clip_boxes)
        return op(boxes, scores, *sizes, similarity, score)
