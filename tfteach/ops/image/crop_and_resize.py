"""Crops of images by boxes, resized to one size; and their gradients.

Source: core/ops/image_ops.cc, core/kernels/crop_and_resize_op.cc,
python/ops/image_grad.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

import tfteach.ops.image.scale_and_translate  # noqa: F401  # its ops come in others' graphs
from tfteach.framework import errors
from tfteach.framework import shape as shapes
from tfteach.framework.deprecation import deprecated_argument_lookup
from tfteach.framework.dtypes import DType, dtypes_of
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.input_conversion import check_choice
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.array.segment_kernels import segment_sum
from tfteach.ops.core import shape_ops
from tfteach.ops.image.resize import check_length, sized

F32 = np.float32
METHODS = ("bilinear", "nearest")
NUMBERS = dtypes_of("uint8 uint16 int8 int16 int32 int64 half float32 float64")
FLOATS = dtypes_of("float32 half float64")


class Places(NamedTuple):
    """Sampling positions of crops along one axis of the images.

    Attributes:
      lower: ints [boxes, crop's size], the pixel before the position.
      upper: the pixel after it.
      share: float32, the distance of the position from `lower`.
      inside: bool, whether the position is inside the image; others count as 0.
    """

    lower: Any
    upper: Any
    share: Any
    inside: Any


def places(
    xp: ArrayModule, start: Any, end: Any, size: int, out: int, method: str
) -> Places:
    """The positions of `out` pixels from `start` to `end`, relative to the image.

    Args:
      start: float32 [boxes], where 0 is the first pixel and 1 the last.
      end: float32 [boxes].
      size: the image's size.
      out: the crop's size; a single pixel lies in the middle.
      method: "bilinear"; or "nearest", where both pixels are the nearest one.
    """
    last = F32(size - 1)
    if out > 1:
        step = (end - start) * last / F32(out - 1)
        found = start[:, None] * last + xp.arange(out, dtype=F32) * step[:, None]
    else:
        found = ((start + end)[:, None] * F32(0.5) * last).astype(F32)
    inside = (found >= 0) & (found <= last)
    found = xp.where(inside, found, F32(0))
    if method == "nearest":
        nearest = xp.floor(found.astype(np.float64) + 0.5).astype(np.intp)
        return Places(nearest, nearest, xp.zeros_like(found), inside)
    below = xp.floor(found)
    lower, upper = (a.astype(np.intp) for a in (below, xp.ceil(found)))
    return Places(lower, upper, found - below, inside)


class _Crop(Op, abstract=True):
    methods: ClassVar[tuple[str, ...]] = METHODS
    if TYPE_CHECKING:  # the subclasses' field, in TF's order

        @property
        def method(self) -> str: ...

    def validate(self) -> None:
        check_choice(self.op_type, "method", self.method, self.methods)

    def lay(
        self,
        xp: ArrayModule,
        boxes: Any,
        box_ind: Any,
        image: tuple[int, ...],
        crop: Any,
    ) -> tuple[Any, Places, Places]:
        """The boxes' images, and the positions of the crops' rows and columns.

        Raises:
          OutOfRangeError: an image index is out of range.
        """
        if box_ind.size and bool(((box_ind < 0) | (box_ind >= image[0])).any()):
            raise errors.OutOfRangeError(
                None, None,
                "box_index has values outside [0, batch_size). There are "
                f"{image[0]} images.",
            )  # fmt: skip
        sides = boxes.reshape(-1, 4).astype(F32)
        top, left, bottom, right = (sides[:, i] for i in range(4))
        rows = places(xp, top, bottom, image[1], crop[0], self.method)
        columns = places(xp, left, right, image[2], crop[1], self.method)
        return box_ind.reshape(-1).astype(np.intp), rows, columns


def check_boxes(boxes: Any, box_ind: Any) -> int:
    """The number of boxes, after a check of shapes.  Raises: InvalidArgumentError."""
    if not boxes.size and not box_ind.size:
        return 0
    if boxes.ndim != 2:
        raise invalid_argument(f"boxes must be 2-D{shapes.text(boxes.shape)}")
    if boxes.shape[1] != 4:
        raise invalid_argument("boxes must have 4 columns")
    if box_ind.ndim != 1:
        raise invalid_argument(f"box_index must be 1-D{shapes.text(box_ind.shape)}")
    if len(box_ind) != len(boxes):
        raise invalid_argument("box_index has incompatible shape")
    return len(boxes)


def check_image(image: Any) -> None:
    """Check the images' shape.  Raises: InvalidArgumentError."""
    if image.ndim != 4:
        raise invalid_argument(f"input image must be 4-D{shapes.text(image.shape)}")
    if not (image.shape[1] and image.shape[2]):
        raise invalid_argument("image dimensions must be positive")


def check_grads(grads: Any, boxes: Any, box_ind: Any) -> None:
    """Check the shape of gradients of crops.  Raises: InvalidArgumentError."""
    if grads.ndim != 4:
        raise invalid_argument(f"grads image must be 4-D{shapes.text(grads.shape)}")
    if not (grads.shape[1] and grads.shape[2]):
        raise invalid_argument("grads dimensions must be positive")
    if check_boxes(boxes, box_ind) != len(grads):
        raise invalid_argument("boxes and grads have incompatible shape")


def corners(
    xp: ArrayModule, image: Any, which: Any, rows: Places, columns: Places
) -> list[list[Any]]:
    """The pixels [top, bottom][left, right] around each position, float32."""
    _, height, width, depth = image.shape
    pixels = image.reshape(image.shape[0] * height * width, depth)
    found = []
    for line in (rows.lower, rows.upper):
        first = (which[:, None] * height + line) * width
        at = [first[..., None] + c[:, None] for c in (columns.lower, columns.upper)]
        found.append([pixels.take(i, 0).astype(F32, copy=False) for i in at])
    return found


def over_rows(places: Any) -> Any:
    """Numbers [boxes, rows] reshaped to match [boxes, rows, columns, channels]."""
    return places[:, :, None, None]


def over_columns(places: Any) -> Any:
    """Numbers [boxes, columns] reshaped to match [boxes, rows, columns, channels]."""
    return places[:, None, :, None]


class CropAndResize(_Crop):
    """The crop of each box, resized to one size.

    Source: core/ops/image_ops.cc, CropAndResize.
    """

    signature = (
        "image: T, boxes: float32, box_ind: int32, crop_size: int32 -> crops: float32"
    )
    T = NUMBERS
    method: str = "bilinear"
    extrapolation_value: float = 0.0
    by_value_or_shape: ClassVar[tuple[str, ...]] = ("crop_size",)
    host_inputs: ClassVar[tuple[str, ...]] = ("crop_size",)

    def infer_shape(
        self, image: Shape, boxes: Shape, box_ind: Shape, crop_size: Any
    ) -> Shape:
        image = shapes.with_rank(image, 4)
        boxes, box_ind = shapes.with_rank(boxes, 2), shapes.with_rank(box_ind, 1)
        count = shapes.same_size(boxes[0], box_ind[0])
        check_length(boxes, 4)
        return sized((count, *image[1:]), crop_size)

    def compute(
        self,
        xp: ArrayModule,
        image: Array,
        boxes: Array,
        box_ind: Array,
        crop_size: Array,
    ) -> Any:
        check_image(image)
        check_boxes(boxes, box_ind)
        got = shapes.text(crop_size.shape)
        if crop_size.ndim != 1:
            raise invalid_argument(f"crop_size must be 1-D{got}")
        if len(crop_size) != 2:
            raise invalid_argument(f"crop_size must have two elements{got}")
        crop = crop_size.tolist()
        if min(crop) <= 0:
            raise invalid_argument("crop dimensions must be positive")
        which, rows, columns = self.lay(xp, boxes, box_ind, image.shape, crop)
        (top, top_right), (bottom, right) = corners(xp, image, which, rows, columns)
        if self.method == "bilinear":
            top += (top_right - top) * over_columns(columns.share)
            bottom += (right - bottom) * over_columns(columns.share)
            top += (bottom - top) * over_rows(rows.share)
        inside = over_rows(rows.inside) & over_columns(columns.inside)
        return xp.where(inside, top, F32(self.extrapolation_value))

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        image, boxes, box_ind, _ = op.inputs
        shape: Any = image._shape
        if not shapes.is_full(shape):
            shape = shape_ops.shape(image)
        dtype, of_image = image.dtype.base_dtype, None
        if dtype in FLOATS:
            back = CropAndResizeGradImage(dtype, self.method)
            of_image = back(grad, boxes, box_ind, shape)
        # As in TensorFlow: the bilinear gradient even for nearest neighbour.
        of_boxes = CropAndResizeGradBoxes()(grad, image, boxes, box_ind)
        return [of_image, of_boxes, None, None]


class CropAndResizeGradImage(_Crop):
    """The gradient of CropAndResize with respect to the images.

    Source: core/ops/image_ops.cc, CropAndResizeGradImage.
    """

    signature = (
        "grads: float32, boxes: float32, box_ind: int32, image_size: int32 -> output: T"
    )
    T: DType
    T_allowed = FLOATS
    method: str = "bilinear"
    by_shape: ClassVar[tuple[str, ...]] = ("image_size",)
    host_inputs: ClassVar[tuple[str, ...]] = ("image_size",)

    def infer_shape(
        self, grads: Shape, boxes: Shape, box_ind: Shape, image_size: Shape
    ) -> Shape:
        return shapes.with_rank(image_size, 4)

    def compute(
        self,
        xp: ArrayModule,
        grads: Array,
        boxes: Array,
        box_ind: Array,
        image_size: Array,
    ) -> Any:
        check_grads(grads, boxes, box_ind)
        got = shapes.text(image_size.shape)
        if image_size.ndim != 1:
            raise invalid_argument(f"image_size must be 1-D{got}")
        if len(image_size) != 4:
            raise invalid_argument(f"image_size must have 4 elements{got}")
        shape = tuple(image_size.tolist())
        batch, height, width, depth = shape
        if height <= 0 or width <= 0:
            raise invalid_argument("image dimensions must be positive")
        if depth != grads.shape[3]:
            raise invalid_argument("image_size and grads are incompatible")
        which, rows, columns = self.lay(xp, boxes, box_ind, shape, grads.shape[1:3])
        inside = over_rows(rows.inside) & over_columns(columns.inside)
        grads = xp.where(inside, grads, F32(0))
        found = xp.zeros((batch * height * width, depth), F32)
        for line, weight in self._ends(rows):
            part = grads if weight is None else grads * over_rows(weight)
            first = (which[:, None] * height + line) * width
            for column, share in self._ends(columns):
                at = (first[..., None] + column[:, None]).reshape(-1)
                piece = part if share is None else part * over_columns(share)
                found += segment_sum(xp, piece.reshape(-1, depth), at, len(found))
        return found.reshape(shape).astype(self.T.numpy_dtype, copy=False)

    def _ends(self, places: Places) -> list[tuple[Any, Any]]:
        """The pixels that the positions blend, and their weights."""
        if self.method == "nearest":
            return [(places.lower, None)]
        share = places.share
        return [(places.lower, 1 - share), (places.upper, share)]


class CropAndResizeGradBoxes(_Crop):
    """The gradient of CropAndResize with respect to the boxes.

    Source: core/ops/image_ops.cc, CropAndResizeGradBoxes.
    """

    signature = (
        "grads: float32, image: T, boxes: float32, box_ind: int32 -> output: float32"
    )
    T = NUMBERS
    method: str = "bilinear"
    methods: ClassVar[tuple[str, ...]] = ("bilinear",)

    def infer_shape(
        self, grads: Shape, image: Shape, boxes: Shape, box_ind: Shape
    ) -> Shape:
        return boxes

    def compute(
        self, xp: ArrayModule, grads: Array, image: Array, boxes: Array, box_ind: Array
    ) -> Any:
        check_grads(grads, boxes, box_ind)
        check_image(image)
        if image.shape[3] != grads.shape[3]:
            raise invalid_argument("image, grads depth differ")
        crop = grads.shape[1:3]
        which, rows, columns = self.lay(xp, boxes, box_ind, image.shape, crop)
        (top, top_right), (bottom, right) = corners(xp, image, which, rows, columns)
        across, down = over_columns(columns.share), over_rows(rows.share)
        inside = over_rows(rows.inside) & over_columns(columns.inside)
        grads = xp.where(inside, grads, F32(0))
        slope_y = (1 - across) * (bottom - top) + across * (right - top_right)
        slope_x = (1 - down) * (top_right - top) + down * (right - bottom)
        # Derivatives of the sampling positions with respect to each box's start and
        # end.
        at_y = (slope_y * grads).sum((2, 3))
        at_x = (slope_x * grads).sum((1, 3))
        sums: list[Any] = []
        for moved, size, out in (
            (at_y, image.shape[1], crop[0]), (at_x, image.shape[2], crop[1]),
        ):  # fmt: skip
            if out > 1:
                to_end = xp.arange(out, dtype=F32) * (F32(size - 1) / F32(out - 1))
            else:
                to_end = xp.full(1, 0.5 * (size - 1), F32)
            sums.append(((moved * (F32(size - 1) - to_end)).sum(1), moved @ to_end))
        (top, bottom), (left, right) = sums
        return xp.stack([top, left, bottom, right], 1).reshape(boxes.shape)


@export("image.crop_and_resize")
def crop_and_resize(
    image: TensorLike,
    boxes: TensorLike,
    box_ind: TensorLike | None = None,
    crop_size: TensorLike | None = None,
    method: str = "bilinear",
    extrapolation_value: float = 0,
    name: str | None = None,
    box_indices: TensorLike | None = None,
) -> Tensor:
    """For each box its part of an image, resized to one size.

    Row i of a crop lies at `(y1 + i * (y2 - y1) / (crop_height - 1)) * (height - 1)`.

    Args:
      image: Tensor [batch, height, width, channels] of numbers.
      boxes: float32 [n, 4], rows [y1, x1, y2, x2], where 0 is the first row or column,
        1 the last one.  If y1 > y2, the crop is upside down.
      box_ind, box_indices: int32 [n], the image of each box.
      crop_size: int32 [2], crop_height and crop_width.
      method: "bilinear" or "nearest".
      extrapolation_value: the value outside the image.
      name: the op's name.

    Returns:
      A float32 Tensor [n, crop_height, crop_width, channels].

    Raises:
      ValueError: the shapes do not match, or the method is unknown.
      InvalidArgumentError: (when run) a size is not positive.
      OutOfRangeError: (when run) an image index is out of range.

    Example:
      >>> tf.image.crop_and_resize(tf.ones([1, 8, 8, 3]), [[0.0, 0.0, 0.5, 1.0]], [0],
      ...                          [4, 4])

    Source: CropAndResize in core/ops/image_ops.cc.
    """
    box_ind = deprecated_argument_lookup("box_indices", box_indices, "box_ind", box_ind)
    op = CropAndResize(method, extrapolation_value)
    return op(image, boxes, box_ind, crop_size, name=name)
