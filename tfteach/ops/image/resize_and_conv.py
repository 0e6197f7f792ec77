"""Convolutions of images that are resized and padded on the way.

`optimize_for_inference` makes these ops.  TensorFlow's kernel computes all images of a
batch but the first from rows of the first; here each is computed from its own.

Source: core/ops/nn_ops.cc, core/kernels/conv_ops_fused_image_transform.cc.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import dtypes_of
from tfteach.framework.input_conversion import check_choice
from tfteach.framework.op import Op
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule
from tfteach.ops.array.padding import MirrorPad
from tfteach.ops.image.resize import check_images, check_positive, check_size, sized
from tfteach.ops.image.resize_weights import bilinear, resample
from tfteach.ops.windows import conv_geometry as geometry
from tfteach.ops.windows.conv_2d import Conv2D

_FLOATS = dtypes_of("half float32 float64")


class _PaddedConv2D(Op, abstract=True):
    """A convolution of a mirror-padded image."""

    is_heavy: ClassVar[bool] = True
    on_gpu: ClassVar[bool] = False
    T = _FLOATS
    by_value_or_shape: ClassVar[tuple[str, ...]] = ("paddings",)
    host_inputs: ClassVar[tuple[str, ...]] = ("paddings",)
    if TYPE_CHECKING:  # the subclasses' fields, in TF's order

        @property
        def mode(self) -> str: ...

        @property
        def strides(self) -> tuple[int, ...]: ...

        @property
        def padding(self) -> str: ...

    def validate(self) -> None:
        check_choice(self.op_type, "mode", self.mode, ("REFLECT", "SYMMETRIC"))
        check_choice(self.op_type, "padding", self.padding, geometry.PADDINGS)

    @property
    def _plain(self) -> Any:
        return Conv2D(self.strides, padding=self.padding)

    def _output(self, image: Shape, paddings: Any, filter: Shape) -> Shape:
        image = shapes.with_rank(image, 4)
        if paddings is None or isinstance(paddings, tuple):
            # As in TensorFlow, an unknown number of paddings is a rank of -1.
            rows = shapes.with_rank(paddings, 2)[0]
            shapes.with_rank(image, -1 if rows is None else rows)
            paddings = None
        padded = MirrorPad(self.mode).infer_shape(image, paddings)
        found: Shape = self._plain.infer_shape(padded, filter)
        return found

    def _convolved(
        self, xp: ArrayModule, image: Any, paddings: Any, filter: Array
    ) -> Any:
        padded = MirrorPad(self.mode).compute(xp, image, paddings)
        return self._plain.compute(xp, padded, filter)


class FusedPadConv2D(_PaddedConv2D):
    """A convolution of a mirror-padded image.  Source: nn_ops.cc, FusedPadConv2D."""

    signature = "input: T, paddings: int32, filter: T -> output: T"
    mode: str
    strides: tuple[int, ...]
    padding: str

    def infer_shape(self, input: Shape, paddings: Any, filter: Shape) -> Shape:
        return self._output(input, paddings, filter)

    def compute(
        self, xp: ArrayModule, input: Array, paddings: Any, filter: Array
    ) -> Any:
        return self._convolved(xp, input, paddings, filter)


class FusedResizeAndPadConv2D(_PaddedConv2D):
    """A convolution of an image resized by bilinear interpolation, then padded.

    Source: core/ops/nn_ops.cc, FusedResizeAndPadConv2D.
    """

    signature = "input: T, size: int32, paddings: int32, filter: T -> output: T"
    by_value_or_shape: ClassVar[tuple[str, ...]] = ("size", "paddings")
    host_inputs: ClassVar[tuple[str, ...]] = ("size", "paddings")
    resize_align_corners: bool = False
    mode: str  # type: ignore[misc]  # TF's order
    strides: tuple[int, ...]  # type: ignore[misc]
    padding: str  # type: ignore[misc]

    def infer_shape(
        self, input: Shape, size: Any, paddings: Any, filter: Shape
    ) -> Shape:
        return self._output(sized(input, size), paddings, filter)

    def compute(
        self, xp: ArrayModule, input: Array, size: Any, paddings: Any, filter: Array
    ) -> Any:
        check_images(input)
        height, width = check_size(size, "shape_t")
        check_positive(height, width)
        rows = bilinear(input.shape[1], height, self.resize_align_corners, False)
        columns = bilinear(input.shape[2], width, self.resize_align_corners, False)
        image = resample(xp, input, rows, columns, input.dtype)
        return self._convolved(xp, image, paddings, filter)
