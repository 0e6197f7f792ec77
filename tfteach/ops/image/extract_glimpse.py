"""Windows of images, filled with noise beyond the images' edges.

Source: core/ops/image_ops.cc, core/kernels/attention_ops.cc, eigen_attention.h.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.image.resize import check_length, sized

F32 = np.float32


class ExtractGlimpse(Op):
    """A window of each image, each at its own position.

    Source: core/ops/image_ops.cc, ExtractGlimpse.
    """

    signature = "input: float32, size: int32, offsets: float32 -> glimpse: float32"
    centered: bool = True
    normalized: bool = True
    uniform_noise: bool = True
    noise: str = "uniform"
    by_value_or_shape: ClassVar[tuple[str, ...]] = ("size",)
    on_gpu: ClassVar[bool] = False
    is_foldable: ClassVar[bool] = False  # each run draws its own noise

    def infer_shape(self, input: Shape, size: Any, offsets: Shape) -> Shape:
        input, offsets = shapes.with_rank(input, 4), shapes.with_rank(offsets, 2)
        batch = shapes.same_size(input[0], offsets[0])
        check_length(offsets, 2)
        if self.uniform_noise and self.noise not in ("", "uniform"):
            raise ValueError(
                "The uniform_noise and noise should not be specified at the same time"
            )
        return sized((batch, *input[1:]), size)

    def compute(self, xp: ArrayModule, input: Array, size: Any, offsets: Array) -> Any:
        noise = self.noise or ("uniform" if self.uniform_noise else "gaussian")
        if noise not in ("uniform", "gaussian", "zero"):
            raise invalid_argument(
                f"The noise could only be uniform, gaussian, or zero, got{noise}"
            )
        self._check(input, size, offsets)
        window = size.tolist()
        starts = self._starts(input.shape[1:3], window, offsets)
        found = xp.zeros((len(input), *window, input.shape[3]), F32)
        for image, glimpse, start in zip(input, found, starts, strict=True):
            lines = [
                _overlap(*sizes)
                for sizes in zip(start, window, image.shape[:2], strict=True)
            ]
            if any(is_partial for _, _, is_partial in lines):
                glimpse[...] = _noise(xp, noise, image, glimpse.shape)
            (to_y, from_y, _), (to_x, from_x, _) = lines
            glimpse[to_y, to_x] = image[from_y, from_x]
        return found

    def _check(self, input: Any, size: Any, offsets: Any) -> None:
        def refuse(message: str, array: Any) -> Exception:
            return invalid_argument(f"{message}{shapes.text(array.shape)}")

        if input.ndim != 4:
            message = "input must be 4-dimensional (batch_size, height, width, depth)"
            raise refuse(message, input)
        if size.shape != (2,):
            raise refuse("input must be a vector of size 2 (height, width)", size)
        if offsets.ndim != 2:
            raise refuse("input must be a matrix", offsets)
        if len(offsets) != len(input):
            raise refuse("first dimension should be batch", offsets)
        if offsets.shape[1] != 2:
            raise refuse("second dimension should be of size 2 (y,x)", offsets)
        if (size < 0).any():
            raise invalid_argument(
                f"The size of a glimpse must not be negative, got {size.tolist()}"
            )

    def _starts(
        self, image: tuple[int, ...], window: list[int], offsets: Any
    ) -> list[list[int]]:
        """Each window's first row and column."""
        places, sizes = offsets.astype(F32), np.array(image, F32)
        if self.normalized:
            places = places * sizes
        if self.centered:
            places = places / F32(2) + sizes / F32(2)
        places = places - np.array(window, F32) / F32(2)
        starts: list[list[int]] = np.trunc(places).astype(int).tolist()
        return starts

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None, None, None]


def _overlap(start: int, window: int, size: int) -> tuple[slice, slice, bool]:
    """The overlap of a window with the image, and True if the window exceeds the image.

    A window that starts before the image shows it at its end, even where the window is
    larger than the remaining part: this is TensorFlow's placement.
    """
    base, length = 0, window
    if start < 0:
        length = max(0, window + start)
        base, start = window - length, 0
        is_partial = True
    else:
        is_partial = start + window >= size
        if is_partial:
            length = max(0, size - start)
    length = min(size, length)
    return slice(base, base + length), slice(start, start + length), is_partial


def _noise(xp: ArrayModule, kind: str, image: Any, shape: tuple[int, ...]) -> Any:
    """Noise around an image, in the image's range."""
    if kind == "zero" or not image.size:
        return xp.zeros(shape, F32)
    random = xp.random.default_rng()
    if kind == "uniform":
        low, high = image.min(), image.max()
        return low + random.random(shape, dtype=F32) * (high - low)
    mean, deviation = image.mean((0, 1)), image.std((0, 1))
    normal = random.standard_normal(shape, dtype=F32)
    low, high = image.min((0, 1)), image.max((0, 1))
    return xp.clip(mean + normal * deviation, low, high)


@export("image.extract_glimpse")
def extract_glimpse(
    input: TensorLike,
    size: TensorLike,
    offsets: TensorLike,
    centered: bool = True,
    normalized: bool = True,
    uniform_noise: bool = True,
    name: str | None = None,
) -> Tensor:
    """A window of each image, filled with noise beyond the image's edges.

    Args:
      input: float32 Tensor [batch, height, width, channels].
      size: int32 [2], the window's height and width.
      offsets: float32 [batch, 2], the position (y, x) of each window's centre.
      centered: whether (0, 0) is the centre of the image, or its first pixel.
      normalized: whether positions are fractions of the image's size (with `centered`
        from -1 to 1) or numbers of pixels (with `centered` in half pixels, as in
        TensorFlow 1).
      uniform_noise: no effect, as in TensorFlow 1.15: the noise is uniform between the
        image's minimum and maximum.
      name: the op's name.

    Returns:
      A float32 Tensor [batch, window's height, its width, channels]; no gradient.

    Raises:
      ValueError: the shapes do not match.
      InvalidArgumentError: (when run) the run-time shapes do not match.

    Example:
      >>> tf.image.extract_glimpse(tf.ones([1, 8, 8, 3]), [4, 4], [[0.0, 0.0]])

    Source: ExtractGlimpse in core/ops/image_ops.cc.
    """
    op = ExtractGlimpse(centered, normalized, uniform_noise)
    return op(input, size, offsets, name=name)
