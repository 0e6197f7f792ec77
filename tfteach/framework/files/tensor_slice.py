"""Slices of tensors: the part of a partitioned variable that one of its parts holds.

Written as "0,2:-": a start and a length for each dimension, "-" for all of it.
Source: core/framework/tensor_slice.cc, core/util/saved_tensor_slice_util.cc.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tfteach.framework.errors import InvalidArgumentError, invalid_argument
from tfteach.framework.files.ordered_code import (
    encoded_signed,
    encoded_text,
    encoded_unsigned,
)

FULL = -1  # as the length of a dimension
Extent = tuple[int, int]


class TensorSlice(NamedTuple):
    """A start and a length in each dimension; (0, FULL) for all of it."""

    extents: tuple[Extent, ...]

    @staticmethod
    def full(rank: int) -> TensorSlice:
        """The slice that is the whole of a tensor."""
        return TensorSlice(((0, FULL),) * rank)

    @staticmethod
    def from_proto(proto: Any) -> TensorSlice:
        """The slice of a TensorSliceProto."""
        return TensorSlice(
            tuple(
                (e.start, e.length if e.HasField("length") else FULL)
                for e in proto.extent
            )
        )

    def is_full(self) -> bool:
        """Whether it has all of each dimension."""
        return all(length == FULL for _, length in self.extents)

    def indices(self, shape: tuple[int, ...]) -> tuple[slice, ...]:
        """Its position as NumPy's indices.

        Raises:
          InvalidArgumentError: it does not lie in a tensor of this shape.
        """
        if len(shape) != len(self.extents):
            raise invalid_argument(
                f"Mismatching ranks: shape = {list(shape)}, slice = {self}"
            )
        found = []
        for i, ((start, length), size) in enumerate(
            zip(self.extents, shape, strict=True)
        ):
            stop = size if length == FULL else start + length
            if not 0 <= start <= stop <= size:
                listed = ",".join(map(str, shape))
                raise invalid_argument(
                    f"Extent in dimension {i} out of bounds: shape = [{listed}], "
                    f"slice = {self}"
                )
            found.append(slice(start, stop))
        return tuple(found)

    def key(self, name: str) -> bytes:
        """The key in a checkpoint of this slice of a tensor."""
        parts = [encoded_unsigned(0), encoded_text(name.encode())]
        parts.append(encoded_unsigned(len(self.extents)))
        for start, length in self.extents:
            parts += encoded_signed(start), encoded_signed(length)
        return b"".join(parts)

    def add_to(self, proto: Any) -> None:
        """Write it into a TensorSliceProto."""
        for start, length in self.extents:
            if length == FULL:
                proto.extent.add()
            else:
                extent = proto.extent.add(length=length)
                if start:
                    extent.start = start

    def __str__(self) -> str:
        return ":".join(
            "-" if length == FULL else f"{start},{length}"
            for start, length in self.extents
        )


class SliceSpec(NamedTuple):
    """What a Saver's node knows of a part: the whole tensor's shape, and the slice."""

    shape: tuple[int, ...]
    slice: TensorSlice

    @staticmethod
    def parse(text: str) -> SliceSpec:
        """A specification such as "4 2 0,2:-".

        Raises:
          InvalidArgumentError: it is not one, or the slice is not within the shape.
        """
        *sizes, parts = text.split(" ")
        if not sizes:
            raise invalid_argument(
                "Need least two elements in shape_and_slice specification: " + text
            )
        try:
            shape = tuple(int(size) for size in sizes)
        except ValueError:
            raise invalid_argument(
                f"Non numerical dimension in shape_and_slice: {text}"
            ) from None
        found = SliceSpec(shape, TensorSlice(tuple(map(_extent, parts.split(":")))))
        found.slice.indices(shape)
        return found

    def part_shape(self) -> tuple[int, ...]:
        """The shape of the part."""
        found = self.slice.indices(self.shape)
        return tuple(part.stop - part.start for part in found)


def mismatch(spec: SliceSpec, shape: Sequence[int]) -> InvalidArgumentError:
    """The error for a part to save that has not the shape of its slice."""
    sizes = " ".join(map(str, spec.shape))
    return invalid_argument(
        "Slice in shape_and_slice specification does not match the shape of the tensor "
        f"to  save: {sizes} {spec.slice}, tensor: [{','.join(map(str, shape))}]"
    )


def _extent(text: str) -> Extent:
    if text == "-":
        return 0, FULL
    try:
        start, length = map(int, text.split(","))
    except ValueError:
        raise invalid_argument(
            f"Expected a pair of numbers or '-' but got '{text}': string = {text}"
        ) from None
    if start < 0 or length <= 0:
        raise invalid_argument(
            f"Expected non-negative start and positive length but got start = {start}, "
            f"length = {length}: string = {text}"
        )
    return start, length


def joined_slices(
    name: str,
    spec: SliceSpec,
    dtype: np.dtype[Any],
    stored: Iterable[TensorSlice],
    read: Callable[[TensorSlice], np.ndarray[Any, Any]],
) -> np.ndarray[Any, Any]:
    """A part of a partitioned tensor, from the stored slices that overlap with it.

    Args:
      name: the tensor's, for messages.
      spec: which part.
      dtype: of the tensor.
      stored: the slices that can be read.
      read: reads one of them.

    Raises:
      InvalidArgumentError: together they do not have all of the part.
    """
    wanted = spec.slice.indices(spec.shape)
    result = np.empty(spec.part_shape(), dtype)
    found = np.zeros(result.shape, bool)
    for part in stored:
        there = part.indices(spec.shape)
        common = [
            range(max(a.start, b.start), min(a.stop, b.stop))
            for a, b in zip(wanted, there, strict=True)
        ]
        if not all(common):
            continue
        if there == wanted:
            return read(part)
        target = tuple(
            slice(c.start - w.start, c.stop - w.start)
            for c, w in zip(common, wanted, strict=True)
        )
        source = tuple(
            slice(c.start - t.start, c.stop - t.start)
            for c, t in zip(common, there, strict=True)
        )
        result[target], found[target] = read(part)[source], True
    if not found.all():
        raise invalid_argument(
            f"Does not have sufficient slices for partitioned tensor {name} to "
            f"restore in slice_spec: {spec.slice}"
        )
    return result
