"""Bounding boxes: drawing them, and choosing a random crop that shows an object.

A box is `[y_min, x_min, y_max, x_max]` in [0, 1], relative to the image.

Source: core/ops/image_ops.cc; core/kernels/draw_bounding_box_op.cc,
sample_distorted_bounding_box_op.cc; python/ops/image_ops_impl.py (names).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import dtypes_of, float32
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import MultiOutputOp, Op, StatefulOp
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, KernelContext, TensorLike
from tfteach.ops.image import distorted_box as crops
from tfteach.ops.random.random_ops import stream

# RGBA of yellow, blue, red, lime, purple, olive, maroon, navy, aqua and fuchsia.
_COLOURS = np.array([
    [1, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 0, 1], [0.5, 0, 0.5, 1],
    [0.5, 0.5, 0, 1], [0.5, 0, 0, 1], [0, 0, 0.5, 1], [0, 1, 1, 1], [1, 0, 1, 1],
], np.float32)  # fmt: skip


def _require_boxes(boxes: Shape) -> None:
    last = shapes.with_rank(boxes, 3)[-1]
    if last not in (None, 4):
        raise ValueError(f"Dimension must be 4 but is {last}")


# ---- drawing


class DrawBoundingBoxes(Op):
    """Images with the edges of boxes drawn on them, one pixel wide.

    Source: core/ops/image_ops.cc, DrawBoundingBoxes.
    """

    signature = "images: T, boxes: float32 -> output: T"
    T = dtypes_of("float32 half")
    T_default = float32
    on_gpu: ClassVar[bool] = False
    stops_gradients: ClassVar[bool] = True

    def infer_shape(self, images: Shape, boxes: Shape, *colors: Shape) -> Shape:
        if images is not None:
            depth = shapes.with_rank(images, 4)[-1]
            if depth not in (None, 1, 3, 4):
                raise ValueError(
                    "Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)"
                )
        _require_boxes(boxes)
        return images

    def check(self, images: Any, boxes: Any) -> None:
        """Check shapes at run time."""
        if images.ndim != 4:
            raise invalid_argument("The rank of the images should be 4")
        if boxes.ndim != 3:
            raise invalid_argument("The rank of the boxes tensor should be 3")
        if len(images) != len(boxes):
            raise invalid_argument("The batch sizes should be the same")
        if images.shape[3] not in (1, 3, 4):
            raise invalid_argument(
                "Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)"
            )

    def compute(self, xp: ArrayModule, images: Array, boxes: Array) -> Any:
        self.check(images, boxes)
        return self.drawn(images, boxes, _COLOURS)

    def drawn(self, images: Any, boxes: Any, colours: Any) -> Any:
        """The images with boxes drawn in these colours, cyclically."""
        canvas = images.copy()
        depth = images.shape[3]
        table = colours[:, :depth].astype(images.dtype)
        if depth == 1:
            table = colours[:, :1] if colours is not _COLOURS else np.ones((10, 1))
        last = np.array(images.shape[1:3] * 2, np.float32) - 1
        for image, rows in zip(canvas, boxes[..., :4] * last, strict=True):
            for i, corners in enumerate(rows.astype(np.int64).tolist()):
                _draw(image, corners, table[i % len(table)])
        return canvas


def _draw(image: Any, corners: list[int], colour: Any) -> None:
    """Draw the edges of one box, clipped to the image."""
    top, left, bottom, right = corners
    height, width = image.shape[:2]
    rows = slice(max(top, 0), min(bottom, height - 1) + 1)
    columns = slice(max(left, 0), min(right, width - 1) + 1)
    if top > bottom or left > right:
        return  # inverted: TensorFlow logs that and continues
    if top >= height or bottom < 0 or left >= width or right < 0:
        return
    for row in {top, bottom} & {rows.start, rows.stop - 1}:
        image[row, columns] = colour
    for column in {left, right} & {columns.start, columns.stop - 1}:
        image[rows, column] = colour


class DrawBoundingBoxesV2(DrawBoundingBoxes):
    """DrawBoundingBoxes with the colours as an input.

    Source: core/ops/image_ops.cc, DrawBoundingBoxesV2.
    """

    signature = "images: T, boxes: float32, colors: float32 -> output: T"
    stops_gradients: ClassVar[bool] = False  # TensorFlow registers that for V1 only

    def compute(
        self, xp: ArrayModule, images: Array, boxes: Array, colors: Any = None
    ) -> Any:
        self.check(images, boxes)
        if colors.ndim != 2:
            raise invalid_argument(
                f"colors must be a 2-D matrix{shapes.text(colors.shape)}"
            )
        if colors.shape[1] < images.shape[3]:
            raise invalid_argument(
                "colors must have equal or more channels than the image provided: "
                f"{shapes.text(colors.shape)}"
            )
        return self.drawn(images, boxes, colors if colors.size else _COLOURS)


@export("image.draw_bounding_boxes")
def draw_bounding_boxes(
    images: TensorLike,
    boxes: TensorLike,
    name: str | None = None,
    colors: TensorLike | None = None,
) -> Tensor:
    """The images with boxes drawn on them.

    Args:
      images: float Tensor [batch, height, width, depth] with a depth of 1, 3 or 4.
      boxes: float32 Tensor [batch, n, 4] of `[y_min, x_min, y_max, x_max]`, relative to
        the image.
      name: the op's name.
      colors: float32 Tensor [k, depth or more], the boxes' colours, used cyclically;
        TensorFlow's ten if None.

    Returns:
      A Tensor like `images`.

    Raises:
      ValueError: the shapes do not match.
      tf.errors.InvalidArgumentError: (when run) the run-time shapes do not match.

    Example:
      >>> box = [[[0.25, 0.25, 0.75, 0.75]]]
      >>> yellow = tf.image.draw_bounding_boxes(tf.zeros([1, 9, 9, 3]), box)

    Source: DrawBoundingBoxes in core/ops/image_ops.cc.
    """
    if colors is None:
        return DrawBoundingBoxes()(images, boxes, name=name)
    return DrawBoundingBoxesV2()(images, boxes, colors, name=name)


# ---- random crops


class _Sampling(StatefulOp, MultiOutputOp, abstract=True):
    on_gpu: ClassVar[bool] = False

    def infer_shape(self, image_size: Shape, boxes: Shape, *covered: Shape) -> Any:
        (size,) = shapes.with_rank(image_size, 1)
        if size not in (None, 3):
            raise ValueError(f"Dimension must be 3 but is {size}")
        _require_boxes(boxes)
        for shape in covered:
            shapes.with_rank(shape, 0)
        return [(3,), (3,), (1, 1, 4)]

    def crop(self: Any, ctx: KernelContext, size: Any, boxes: Any, covered: Any) -> Any:
        """The outputs, given the fraction of an object that must be covered."""
        rules = crops.Rules(
            covered, self.aspect_ratio_range, self.area_range, self.max_attempts
        )
        rules.check()
        height, width = crops.image_of(size)
        objects = crops.objects_of(boxes, height, width)
        if not objects:
            if not self.use_image_if_no_bounding_boxes:
                raise invalid_argument(
                    "No bounding boxes provided as input. One must enable "
                    "use_image_if_no_bounding_boxes if you wish to not provide any "
                    "bounding boxes."
                )
            objects = [crops.Rectangle(0, 0, height, width)]
        message = stream(ctx, self).reserve(self.max_attempts)
        found = crops.sample(message, rules, objects, height, width)
        top, left, bottom, right = found
        ends = np.array(found, np.float32)
        ends /= np.array([height, width, height, width], np.float32)
        begin = np.array([top, left, 0]).astype(size.dtype)
        extent = np.array([bottom - top, right - left, -1]).astype(size.dtype)
        return begin, extent, ends.reshape(1, 1, 4)


class SampleDistortedBoundingBox(_Sampling):
    """A random crop that shows enough of an object.

    Source: core/ops/image_ops.cc, SampleDistortedBoundingBox.
    """

    signature = (
        "image_size: T, bounding_boxes: float32 -> begin: T, size: T, bboxes: float32"
    )
    T = dtypes_of("uint8 int8 int16 int32 int64")
    seed: int = 0
    seed2: int = 0
    min_object_covered: float = 0.1
    aspect_ratio_range: tuple[float, ...] = (0.75, 1.33)
    area_range: tuple[float, ...] = (0.05, 1.0)
    max_attempts: int = 100
    use_image_if_no_bounding_boxes: bool = False
    stops_gradients: ClassVar[bool] = True

    def compute(
        self, ctx: KernelContext, image_size: Array, bounding_boxes: Array
    ) -> Any:
        return self.crop(ctx, image_size, bounding_boxes, self.min_object_covered)


class SampleDistortedBoundingBoxV2(_Sampling):
    """SampleDistortedBoundingBox with the minimum coverage as an input.

    Source: core/ops/image_ops.cc, SampleDistortedBoundingBoxV2.
    """

    signature = (
        "image_size: T, bounding_boxes: float32, min_object_covered: float32 "
        "-> begin: T, size: T, bboxes: float32"
    )
    T = dtypes_of("uint8 int8 int16 int32 int64")
    seed: int = 0
    seed2: int = 0
    aspect_ratio_range: tuple[float, ...] = (0.75, 1.33)
    area_range: tuple[float, ...] = (0.05, 1.0)
    max_attempts: int = 100
    use_image_if_no_bounding_boxes: bool = False
    stops_gradients: ClassVar[bool] = True

    def compute(
        self,
        ctx: KernelContext,
        image_size: Array,
        bounding_boxes: Array,
        min_object_covered: Array,
    ) -> Any:
        if min_object_covered.ndim:
            raise invalid_argument(
                "min_object_covered must be 0-D, got shape "
                f"{shapes.text(min_object_covered.shape)}"
            )
        return self.crop(ctx, image_size, bounding_boxes, min_object_covered)


@export("image.sample_distorted_bounding_box")
def sample_distorted_bounding_box(
    image_size: TensorLike,
    bounding_boxes: TensorLike,
    seed: int | None = None,
    seed2: int | None = None,
    min_object_covered: TensorLike = 0.1,
    aspect_ratio_range: Sequence[float] | None = None,
    area_range: Sequence[float] | None = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> Any:
    """A random crop that shows enough of one of an image's objects.

    If no attempt succeeds, the result is the whole image.

    Args:
      image_size: int Tensor [3]: height, width, channels.
      bounding_boxes: float32 Tensor [batch, n, 4] of the objects'
        `[y_min, x_min, y_max, x_max]` in [0, 1].
      seed, seed2: the op's two seeds; if both are 0 or None, sessions draw differently.
      min_object_covered: float scalar, the minimum fraction of an object to be shown.
      aspect_ratio_range: two floats, the minimum and maximum of width / height; (0.75,
        1.33) if None.
      area_range: two floats, the minimum and maximum fraction of the image's area;
        (0.05, 1.0) if None.
      max_attempts: the number of attempts; 100 if None.
      use_image_if_no_bounding_boxes: whether the whole image counts as an object if
        there is none; otherwise that is an error.
      name: the name scope of its op.

    Returns:
      (begin, size, bboxes): begin [3] and size [3] of `image_size`'s type, for
      `tf.slice`; bboxes float32 [1, 1, 4], for `tf.image.draw_bounding_boxes`.

    Raises:
      ValueError: the shapes do not match.
      tf.errors.InvalidArgumentError: (when run) a range or a box is out of bounds.

    Example:
      >>> begin, size, box = tf.image.sample_distorted_bounding_box(
      ...     [40, 50, 3], [[[0.1, 0.2, 0.7, 0.8]]], seed=1)
      >>> part = tf.slice(tf.zeros([40, 50, 3]), begin, size)

    Source: SampleDistortedBoundingBoxV2 in core/ops/image_ops.cc.
    """
    given: dict[str, Any] = {
        "seed": seed,
        "seed2": seed2,
        "aspect_ratio_range": aspect_ratio_range,
        "area_range": area_range,
        "max_attempts": max_attempts,
        "use_image_if_no_bounding_boxes": use_image_if_no_bounding_boxes,
    }
    for key in ("aspect_ratio_range", "area_range"):
        if given[key] is not None:
            given[key] = tuple(float(end) for end in given[key])
    op = SampleDistortedBoundingBoxV2(
        **{key: value for key, value in given.items() if value is not None}
    )
    with name_scope(name, "sample_distorted_bounding_box"):
        return op(image_size, bounding_boxes, min_object_covered, name=name)
