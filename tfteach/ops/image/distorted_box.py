"""Random crops for SampleDistortedBoundingBox, with TensorFlow's draws.

Arithmetic is in float32 wherever TensorFlow's is: a height rounded differently would
change all subsequent draws.

Source: core/kernels/sample_distorted_bounding_box_op.cc, core/lib/random/
simple_philox.h, exact_uniform_int.h.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.errors import invalid_argument
from tfteach.ops.random.philox import Philox, uniform_float32

_F = np.float32
_LARGEST_INT = 2**31 - 1
_WORD_RANGE = 2**32
_FIRST_BLOCKS = 8  # of random words; an attempt takes up to four words


class Rectangle(NamedTuple):
    """Pixels from `top` and `left` up to, excluding, `bottom` and `right`."""

    top: int
    left: int
    bottom: int
    right: int

    @property
    def area(self) -> int:
        return (self.bottom - self.top) * (self.right - self.left)

    def shared_area(self, other: Rectangle) -> int:
        """The area of the intersection."""
        top, left = max(self.top, other.top), max(self.left, other.left)
        bottom, right = min(self.bottom, other.bottom), min(self.right, other.right)
        return max(0, bottom - top) * max(0, right - left)


class Rules(NamedTuple):
    """Conditions on accepted crops."""

    covered: Any  # the minimum fraction of an object
    aspects: tuple[float, ...]  # width / height: minimum, maximum
    areas: tuple[float, ...]  # fraction of the image's area: minimum, maximum
    attempts: int

    def check(self) -> None:
        """Raise InvalidArgumentError for conditions that cannot hold."""
        if self.covered < 0:
            raise invalid_argument(
                f"Min object covered must be non-negative: {self.covered:g}"
            )
        for word, ends in (("Aspect ratio", self.aspects), ("Area", self.areas)):
            if len(ends) != 2:
                raise invalid_argument(f"{word} range field must specify 2 dimensions")
            if min(ends) <= 0:
                raise invalid_argument(
                    f"{word} range must be non-negative: [{ends[0]:g}, {ends[1]:g}]"
                )
        low, high = self.areas
        if low > 1 or high > 1:
            raise invalid_argument(
                f"Area range must be less then or equal to 1.0: [{low:g}, {high:g}]"
            )
        if self.attempts <= 0:
            raise invalid_argument(
                f"Max attempts must be non-negative: {self.attempts}"
            )


def image_of(size: Any) -> tuple[int, int]:
    """Height and width of an image size."""
    if size.ndim != 1:
        raise invalid_argument(
            f"image_size must be 1-dimensional{shapes.text(size.shape)}"
        )
    if len(size) != 3:
        raise invalid_argument(
            f"image_size must contain 3 elements{shapes.text(size.shape)}"
        )
    height, width = int(size[0]), int(size[1])
    for name, value in (("height", height), ("width", width)):
        if not 0 <= value <= _LARGEST_INT:
            raise invalid_argument(f"image {name} cannot be >= int32 max")
    return height, width


def objects_of(boxes: Any, height: int, width: int) -> list[Rectangle]:
    """The objects' boxes in pixels."""
    if boxes.ndim != 3:
        raise invalid_argument(
            "input boxes must be 3-dimensional [batch, num_boxes, coords]: "
            f"{shapes.text(boxes.shape)}"
        )
    if boxes.shape[2] != 4:
        raise invalid_argument(
            "bounding boxes must have shape [4] or [*, 4], got "
            f"{shapes.text(boxes.shape)}"
        )
    rows = boxes.reshape(-1, 4)
    outside = rows[~((rows >= 0) & (rows <= 1))]
    if outside.size:
        raise invalid_argument(
            f"All bounding box coordinates must be in [0.0, 1.0]: {outside[0]:g}"
        )
    pixels = rows * np.array([height, width, height, width], _F)
    return [Rectangle(*row) for row in pixels.astype(np.int64).tolist()]


def sample(
    generator: Philox, rules: Rules, objects: list[Rectangle], height: int, width: int
) -> Rectangle:
    """The first crop that satisfies the rules; the whole image if there is none."""
    words = _words(generator)
    low, high = _F(rules.aspects[0]), _F(rules.aspects[1])
    for _ in range(rules.attempts):
        share = uniform_float32(np.array([next(words)], np.uint32))[0]
        aspect = share * (high - low) + low
        crop = _crop(words, aspect, rules.areas, height, width)
        if crop is not None and _covers(crop, _F(rules.covered), objects):
            return crop
    return Rectangle(0, 0, height, width)


def _words(generator: Philox) -> Iterator[int]:
    """The generator's words; only a few at first, since most samples need no more."""
    first, count = 0, _FIRST_BLOCKS
    while True:
        yield from generator.blocks(count, first).reshape(-1).tolist()
        first, count = first + count, 2 * count


def _below(words: Iterator[int], end: int) -> int:
    """A uniform integer in [0, end)."""
    if end & (end - 1) == 0:
        return next(words) & (end - 1)
    last = _WORD_RANGE - 1
    remainder = last % end + 1
    word = next(words)
    while word >= last - remainder:
        word = next(words)
    return word % end


def _rounded(number: Any) -> int:
    return int(np.rint(number))


def _crop(
    words: Iterator[int], aspect: Any, areas: tuple[float, ...], height: int, width: int
) -> Rectangle | None:
    """A crop of this aspect ratio; None if its area cannot be in the range."""
    if height <= 0 or width <= 0 or areas[0] > areas[1]:
        return None
    least, most = (_F(part) * _F(width) * _F(height) for part in areas)
    rows = _rounded(np.sqrt(least / aspect))
    most_rows = _rounded(np.sqrt(most / aspect))
    if _rounded(_F(most_rows) * aspect) > width:
        most_rows = int((width + 0.5 - float(_F(1e-7))) / float(aspect))
        if _rounded(_F(most_rows) * aspect) > width:
            most_rows -= 1
    most_rows = min(most_rows, height)
    rows = min(rows, most_rows)
    if rows < most_rows:
        rows += _below(words, most_rows - rows + 1)
    columns = _rounded(_F(rows) * aspect)
    # If rounding left the range, one row more or less corrects it.
    if _F(rows * columns) < least:
        rows += 1
        columns = _rounded(_F(rows) * aspect)
    if _F(rows * columns) > most:
        rows -= 1
        columns = _rounded(_F(rows) * aspect)
    area = _F(rows * columns)
    if not least <= area <= most:
        return None
    if not (0 < columns <= width and 0 < rows <= height):
        return None
    top = _below(words, height - rows) if rows < height else 0
    left = _below(words, width - columns) if columns < width else 0
    return Rectangle(top, left, top + rows, left + columns)


def _covers(crop: Rectangle, least: Any, objects: list[Rectangle]) -> bool:
    """Whether the crop shows enough of one of the objects."""
    return crop.area >= 1 and any(
        _F(thing.shared_area(crop)) / _F(thing.area) >= least
        for thing in objects
        if thing.area >= 1
    )
