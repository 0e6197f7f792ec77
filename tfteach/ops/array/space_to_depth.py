"""Blocks of pixels as channels, and back.  Source: core/ops/array_ops.cc."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.input_conversion import check_choice
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike

_FORMATS = ("NHWC", "NCHW", "NCHW_VECT_C")


class _DepthOp(Op, abstract=True):
    block_size: int
    data_format: str = "NHWC"

    minimum: ClassVar[dict[str, int]] = {"block_size": 2}

    def validate(self) -> None:
        check_choice(self.op_type, "data_format", self.data_format, _FORMATS)
        if self.data_format == "NCHW_VECT_C":
            raise NotImplementedError(
                "data_format='NCHW_VECT_C' is for int8 on a GPU: use NHWC or NCHW."
            )

    @property
    def is_channels_last(self) -> bool:
        return self.data_format == "NHWC"

    def last(self, shape: Any) -> Any:
        """A shape (or order of axes) as batch, height, width, depth."""
        n, a, b, c = shape
        return (n, a, b, c) if self.is_channels_last else (n, b, c, a)

    def native(self, shape: Any) -> Any:
        """The inverse of `last`."""
        n, h, w, c = shape
        return (n, h, w, c) if self.is_channels_last else (n, c, h, w)


class SpaceToDepth(_DepthOp):
    """Blocks of pixels become channels.  Source: array_ops.cc, SpaceToDepth."""

    signature = "input: T -> output: T"
    block_size: int
    data_format: str = "NHWC"
    checks_only_ranks: ClassVar[bool] = True

    def infer_shape(self, input: Shape) -> Shape:
        n, h, w, c = self.last(shapes.with_rank(input, 4))
        size = self.block_size
        for length in (h, w):
            if length is not None and length % size:
                raise ValueError(
                    f"Dimension size must be evenly divisible by {size} but is {length}"
                )
        result: Shape = self.native(
            (n, h and h // size, w and w // size, c and c * size * size)
        )
        return result

    def check_shapes(self, input: tuple[int, ...]) -> None:
        require(len(input) == 4, f"Input rank should be 4 instead of {len(input)}")

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        images = input if self.is_channels_last else input.transpose(0, 2, 3, 1)
        n, h, w, c = images.shape
        size = self.block_size
        if h % size or w % size:
            raise invalid_argument(
                f"Image width {w} and height {h} should be divisible by block_size: "
                f"{size}"
            )
        blocks = images.reshape(n, h // size, size, w // size, size, c)
        blocks = blocks.transpose(0, 1, 3, 2, 4, 5)
        result = blocks.reshape(n, h // size, w // size, size * size * c)
        return result if self.is_channels_last else result.transpose(0, 3, 1, 2)

    aliases: ClassVar[bool] = True

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [DepthToSpace(self.block_size, self.data_format)(grad)]


class DepthToSpace(_DepthOp):
    """Channels become blocks of pixels.  Source: array_ops.cc, DepthToSpace."""

    signature = "input: T -> output: T"
    block_size: int
    data_format: str = "NHWC"
    aliases: ClassVar[bool] = True
    checks_only_ranks: ClassVar[bool] = True

    def infer_shape(self, input: Shape) -> Shape:
        n, h, w, c = self.last(shapes.with_rank(input, 4))
        size = self.block_size
        if c is not None and c % (size * size):
            raise ValueError(
                f"Dimension size must be evenly divisible by {size * size} but is {c}"
            )
        result: Shape = self.native(
            (n, h and h * size, w and w * size, c and c // (size * size))
        )
        return result

    def check_shapes(self, input: tuple[int, ...]) -> None:
        require(len(input) == 4, f"Input rank should be: 4 instead of: {len(input)}")

    def compute(self, xp: ArrayModule, input: Array) -> Any:
        images = input if self.is_channels_last else input.transpose(0, 2, 3, 1)
        n, h, w, c = images.shape
        size = self.block_size
        if c % (size * size):
            raise invalid_argument(
                f"Input depth dimension {c} should be divisible by: {size * size}"
            )
        depth = c // (size * size)
        blocks = images.reshape(n, h, w, size, size, depth).transpose(0, 1, 3, 2, 4, 5)
        result = blocks.reshape(n, h * size, w * size, depth)
        return result if self.is_channels_last else result.transpose(0, 3, 1, 2)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [SpaceToDepth(self.block_size, self.data_format)(grad)]


def _split_axes(
    input: Shape, block_shape: Any, margins: Any
) -> tuple[list[tuple[int | None, int | None, int | None]], list[int | None]]:
    """The axes that are divided into blocks, and those after them.

    Args:
      block_shape, margins: their values, or else their static shapes.

    Returns:
      (size, block, margin) of each axis that is divided; the sizes of the other axes
      except the batch.

    Raises:
      ValueError: the number of divided axes is not known, or shapes are inconsistent.
    """
    known = isinstance(block_shape, np.ndarray)
    sizes: Shape = block_shape.shape if known else block_shape
    if sizes is None or len(sizes) != 1:
        raise ValueError("block_shape must have rank 1.")
    if sizes[0] is None:
        raise ValueError("block_shape must have known size.")
    count = sizes[0]
    blocks: list[int | None] = block_shape.tolist() if known else [None] * count
    known = isinstance(margins, np.ndarray)
    shapes.merge(margins.shape if known else margins, (None, 2))
    added: list[int | None] = margins.sum(1).tolist() if known else [None] * count
    shapes.with_rank_at_least(input, count + 1)
    inner = (None,) * count if input is None else input[1 : count + 1]
    rest = [] if input is None else list(input[count + 1 :])
    return list(zip(inner, blocks, added, strict=True)), rest


# ---- public functions


@export("space_to_depth", "nn.space_to_depth")
def space_to_depth(
    input: TensorLike,
    block_size: int,
    name: str | None = None,
    data_format: str = "NHWC",
) -> Tensor:
    """Blocks of pixels become channels: a smaller image with more channels.

    Args:
      input: Tensor [batch, height, width, depth] (or NCHW).
      block_size: the blocks' height and width, at least 2.
      name: the op's name.
      data_format: "NHWC" or "NCHW".

    Returns:
      A Tensor [batch, height / block_size, width / block_size, depth * block_size^2].

    Raises:
      ValueError: a size is not a multiple of `block_size`.

    Source: SpaceToDepth in core/ops/array_ops.cc.
    """
    return SpaceToDepth(block_size, data_format)(input, name=name)


@export("depth_to_space", "nn.depth_to_space")
def depth_to_space(
    input: TensorLike,
    block_size: int,
    name: str | None = None,
    data_format: str = "NHWC",
) -> Tensor:
    """Channels become blocks of pixels: a larger image with fewer channels.

    Args:
      input: Tensor [batch, height, width, depth] (or NCHW).
      block_size: the blocks' height and width, at least 2.
      name: the op's name.
      data_format: "NHWC" or "NCHW".

    Returns:
      A Tensor [batch, height * block_size, width * block_size, depth / block_size^2].

    Raises:
      ValueError: the depth is not a multiple of block_size^2.

    Source: DepthToSpace in core/ops/array_ops.cc.
    """
    return DepthToSpace(block_size, data_format)(input, name=name)
