"""Blocks of pixels as images of a batch, and back.  Source: core/ops/array_ops.cc."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.constant_values import constant_value
from tfteach.framework.convert import convert
from tfteach.framework.deprecation import deprecated_argument_lookup
from tfteach.framework.dtypes import int32
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.array.space_to_depth import _split_axes
from tfteach.ops.core.fill import zeros
from tfteach.ops.core.identity_reshape import INDICES
from tfteach.ops.core.stack_unstack import stack


def _check_block_shapes(input: Any, blocks: Any, around: Any, name: str) -> None:
    require(len(blocks) == 1, f"block_shape rank should be 1 instead of {len(blocks)}")
    needed = blocks[0] + 1
    message = f"input rank should be >= {needed} instead of {len(input)}"
    require(len(input) >= needed, message)
    message = f"{name} should have shape [{blocks[0]}, 2] instead of %s"
    require(around == (blocks[0], 2), message, around)


def _check_numbers(blocks: list[int], around: list[list[int]], name: str) -> None:
    """Raise for block sizes below 1, and for negative paddings or crops."""
    product = math.prod(blocks)
    if product <= 0 or min(blocks, default=1) < 1:
        raise invalid_argument(
            f"Product of block sizes must be positive, got {product}"
        )
    if any(n < 0 for pair in around for n in pair):
        raise invalid_argument(f"{name} must be non-negative")


class SpaceToBatchND(Op):
    """Blocks of pixels become members of the batch.  Source: SpaceToBatchND."""

    signature = "input: T, block_shape: Tblock_shape, paddings: Tpaddings -> output: T"
    Tblock_shape = INDICES
    Tblock_shape_default = int32
    Tpaddings = INDICES
    Tpaddings_default = int32
    aliases: ClassVar[bool] = True
    by_value_or_shape: ClassVar[tuple[str, ...]] = ("block_shape", "paddings")
    host_inputs: ClassVar[tuple[str, ...]] = ("block_shape", "paddings")

    def infer_shape(self, input: Shape, block_shape: Any, paddings: Any) -> Shape:
        cut, rest = _split_axes(input, block_shape, paddings)
        if input is None:
            return None
        product = shapes.size_of(tuple(block for _, block, _ in cut))
        batch = input[0]
        result = [None if batch is None or product is None else batch * product]
        for size, block, padding in cut:
            if size is None or padding is None or block is None:
                result.append(None)
                continue
            whole = size + padding
            if whole % block:
                raise ValueError(
                    f"Dimension size must be evenly divisible by {block} but is {whole}"
                )
            result.append(whole // block)
        return (*result, *rest)

    def check_shapes(
        self,
        input: tuple[int, ...],
        block_shape: tuple[int, ...],
        paddings: tuple[int, ...],
    ) -> None:
        _check_block_shapes(input, block_shape, paddings, "paddings")

    def compute(
        self, xp: ArrayModule, input: Array, block_shape: Array, paddings: Array
    ) -> Any:
        sizes = block_shape.tolist()
        count = len(sizes)
        _check_numbers(sizes, paddings.tolist(), "Paddings")
        pads = [(0, 0), *map(tuple, paddings.tolist())]
        pads += [(0, 0)] * (input.ndim - len(pads))
        padded = xp.pad(input, pads)
        for i, size in enumerate(sizes):
            if padded.shape[i + 1] % size:
                raise invalid_argument(
                    f"padded_shape[{i}]={padded.shape[i + 1]} is not divisible by "
                    f"block_shape[{i}]={size}"
                )
        split = [padded.shape[0]]
        for i, size in enumerate(sizes):
            split += [padded.shape[i + 1] // size, size]
        rest = padded.shape[count + 1 :]
        inner = [2 * i + 2 for i in range(count)]
        outer = [2 * i + 1 for i in range(count)]
        tail = range(2 * count + 1, 2 * count + 1 + len(rest))
        blocks = padded.reshape(*split, *rest).transpose(*inner, 0, *outer, *tail)
        batch = padded.shape[0] * int(np.prod(sizes, dtype=int))
        return blocks.reshape(batch, *(split[i] for i in outer), *rest)

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [BatchToSpaceND()(grad, op.inputs[1], op.inputs[2]), None, None]


class BatchToSpaceND(Op):
    """Members of the batch become blocks of pixels.  Source: BatchToSpaceND."""

    signature = "input: T, block_shape: Tblock_shape, crops: Tcrops -> output: T"
    Tblock_shape = INDICES
    Tblock_shape_default = int32
    Tcrops = INDICES
    Tcrops_default = int32
    aliases: ClassVar[bool] = True
    by_value_or_shape: ClassVar[tuple[str, ...]] = ("block_shape", "crops")
    host_inputs: ClassVar[tuple[str, ...]] = ("block_shape", "crops")

    def infer_shape(self, input: Shape, block_shape: Any, crops: Any) -> Shape:
        cut, rest = _split_axes(input, block_shape, crops)
        if input is None:
            return None
        product = shapes.size_of(tuple(block for _, block, _ in cut))
        batch = input[0]
        if batch is not None and product is not None and batch % product:
            raise ValueError(
                f"Dimension size must be evenly divisible by {product} but is {batch}"
            )
        result = [None if batch is None or product is None else batch // product]
        for size, block, crop in cut:
            if size is None or block is None or crop is None:
                result.append(None)
            else:
                result.append(size * block - crop)
        return (*result, *rest)

    def check_shapes(
        self,
        input: tuple[int, ...],
        block_shape: tuple[int, ...],
        crops: tuple[int, ...],
    ) -> None:
        _check_block_shapes(input, block_shape, crops, "crops")

    def compute(
        self, xp: ArrayModule, input: Array, block_shape: Array, crops: Array
    ) -> Any:
        sizes = block_shape.tolist()
        _check_numbers(sizes, crops.tolist(), "Crops")
        count, product = len(sizes), math.prod(sizes)
        if input.shape[0] % product:
            raise invalid_argument(
                f"Input batch dimension ({input.shape[0]}) is not divisible by product "
                f"of block sizes ({product})"
            )
        batch = input.shape[0] // product
        space, rest = input.shape[1 : count + 1], input.shape[count + 1 :]
        order = [count]
        for i in range(count):
            order += [count + 1 + i, i]
        order += range(2 * count + 1, 2 * count + 1 + len(rest))
        blocks = input.reshape(*sizes, batch, *space, *rest).transpose(order)
        whole = [n * size for n, size in zip(space, sizes, strict=True)]
        pixels = blocks.reshape(batch, *whole, *rest)
        cut = [slice(None)]
        for i, (before, after) in enumerate(crops.tolist()):
            n = whole[i]
            if before + after > n:
                raise invalid_argument(
                    f"cropped_shape[{i}]={n - before - after} must be non-negative"
                )
            cut.append(slice(before, n - after))
        return pixels[tuple(cut)]

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [SpaceToBatchND()(grad, op.inputs[1], op.inputs[2]), None, None]


@export("space_to_batch_nd", "manip.space_to_batch_nd")
def space_to_batch_nd(
    input: TensorLike,
    block_shape: TensorLike,
    paddings: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Pixels at the same offset in their blocks become one member of the batch.

    Args:
      input: Tensor [batch, space..., ...].
      block_shape: int Tensor [m], the blocks' sizes.
      paddings: int Tensor [m, 2], the zeros to add around the space first.
      name: the op's name.

    Returns:
      A Tensor with a batch larger by the product of `block_shape`.

    Source: SpaceToBatchND in core/ops/array_ops.cc.
    """
    return SpaceToBatchND()(input, block_shape, paddings, name=name)


@export("batch_to_space_nd", "manip.batch_to_space_nd")
def batch_to_space_nd(
    input: TensorLike,
    block_shape: TensorLike,
    crops: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Members of the batch become blocks of pixels; the inverse of `space_to_batch_nd`.

    Args:
      input: Tensor [batch, space..., ...].
      block_shape: int Tensor [m], the blocks' sizes.
      crops: int Tensor [m, 2], the sizes to remove around the space at the end.
      name: the op's name.

    Returns:
      A Tensor with a batch smaller by the product of `block_shape`.

    Source: BatchToSpaceND in core/ops/array_ops.cc.
    """
    return BatchToSpaceND()(input, block_shape, crops, name=name)


@export("space_to_batch", "nn.space_to_batch")
def space_to_batch(
    input: TensorLike,
    paddings: TensorLike,
    block_size: Any = None,
    name: str | None = None,
    block_shape: Any = None,
) -> Tensor:
    """`space_to_batch_nd` with square blocks, for images.

    Args:
      input: Tensor [batch, height, width, depth].
      paddings: int Tensor [2, 2].
      block_size: the blocks' height and width.
      name: the op's name.
      block_shape: alias of `block_size`.

    Returns:
      A Tensor of rank 4.

    Source: python/ops/array_ops.py.
    """
    size = deprecated_argument_lookup(
        "block_shape", block_shape, "block_size", block_size
    )
    return _of_images(space_to_batch_nd(input, _square(size), paddings, name))


@export("batch_to_space")
def batch_to_space(
    input: TensorLike,
    crops: TensorLike,
    block_size: Any,
    name: str | None = None,
    block_shape: Any = None,
) -> Tensor:
    """`batch_to_space_nd` with square blocks, for images.

    Args:
      input: Tensor [batch, height, width, depth].
      crops: int Tensor [2, 2].
      block_size: the blocks' height and width.
      name: the op's name.
      block_shape: alias of `block_size`.

    Returns:
      A Tensor of rank 4.

    Source: python/ops/array_ops.py.
    """
    size = deprecated_argument_lookup(
        "block_shape", block_shape, "block_size", block_size
    )
    return _of_images(batch_to_space_nd(input, _square(size), crops, name))


def _square(size: Any) -> Any:
    return np.array([size, size], dtype=np.int64)


def _of_images(result: Tensor) -> Tensor:
    result.set_shape(shapes.with_rank(result.static_shape, 4))
    return result


@export("required_space_to_batch_paddings")
def required_space_to_batch_paddings(
    input_shape: TensorLike,
    block_shape: TensorLike,
    base_paddings: TensorLike | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """The paddings that make sizes multiples of block sizes, and the matching crops.

    Args:
      input_shape: int32 Tensor [n].
      block_shape: int32 Tensor [n].
      base_paddings: int32 Tensor [n, 2], the minimum paddings; zeros if None.
      name: the name of the scope.

    Returns:
      (paddings, crops), int32 Tensors [n, 2].

    Source: python/ops/array_ops.py.
    """
    values = [input_shape, block_shape]
    with name_scope(name, "required_space_to_batch_paddings", values):
        sizes: Any = convert(input_shape, int32, "input_shape")
        blocks: Any = convert(block_shape, int32, "block_shape")
        (count,) = shapes.with_rank(blocks.static_shape, 1)
        if count is None:
            raise ValueError("block_shape must have a known length")
        if not count:
            return zeros([0, 2], int32), zeros([0, 2], int32)
        sizes.shape.assert_is_compatible_with([count])
        base: Any = (
            zeros([count, 2], int32)
            if base_paddings is None
            else (convert(base_paddings, int32, "base_paddings"))
        )
        base.shape.assert_is_compatible_with([count, 2])
        known = [constant_value(t) for t in (sizes, blocks, base)]
        if all(value is not None for value in known):
            sizes, blocks, base = known
        start, end = base[:, 0], base[:, 1]
        whole = sizes + start + end
        extra = (blocks - whole % blocks) % blocks
        end = end + extra
        paddings = stack([[start[i], end[i]] for i in range(count)], name="paddings")
        crops = stack([[0, extra[i]] for i in range(count)], name="crops")
        return paddings, crops
