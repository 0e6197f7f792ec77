"""Slices: their text, their keys, and what several of them make together."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tfteach.framework.errors import InvalidArgumentError
from tfteach.framework.files.ordered_code import (
    encoded_signed,
    encoded_text,
    encoded_unsigned,
)
from tfteach.framework.files.tensor_slice import SliceSpec, TensorSlice, joined_slices


def test_text_and_shape() -> None:
    spec = SliceSpec.parse("4 2 0,3:-")
    assert spec.shape == (4, 2)
    assert spec.part_shape() == (3, 2)
    assert str(spec.slice) == "0,3:-"
    assert not spec.slice.is_full()
    assert TensorSlice.full(2).is_full()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x", "Need least two elements"),
        ("4 y 0,2:-", "Non numerical dimension"),
        ("4 2 x", "Expected a pair of numbers or '-' but got 'x'"),
        ("4 2 0,2,3:-", "Expected a pair"),
        ("4 2 -1,2:-", "Expected non-negative start and positive length"),
        ("4 2 0,0:-", "start = 0, length = 0"),
        ("4 2 3,2:-", r"Extent in dimension 0 out of bounds: shape = \[4,2\]"),
        ("4 2 -", "Mismatching ranks"),
    ],
)
def test_refused(text: str, words: str) -> None:
    with pytest.raises(InvalidArgumentError, match=words):
        SliceSpec.parse(text)


def test_key_of_a_slice() -> None:
    """As real TensorFlow writes it for the first half of a 4 x 2 tensor."""
    found = SliceSpec.parse("4 2 0,2:-").slice.key("x")
    assert found == b"\x00x\x00\x01\x01\x02\x80\x82\x80\x7f"


NUMBERS = [0, 1, 63, 64, 8191, 8192, 2**20, 2**34, 2**55, 2**62, 2**63 - 1]


def test_encodings_sort_as_values() -> None:
    numbers = sorted({sign for n in NUMBERS for sign in (n, -n, -n - 1)})
    found = [encoded_signed(n) for n in numbers]
    assert found == sorted(found)
    assert max(map(len, found)) == 10
    found = [encoded_unsigned(n) for n in NUMBERS]
    assert found == sorted(found)
    texts = sorted(
        bytes(t)
        for n in range(4)
        for t in itertools.product((0, 1, 254, 255), repeat=n)
    )
    found = [encoded_text(t) for t in texts]
    assert found == sorted(found)
    assert len(set(found)) == len(texts)


def test_joined_from_overlapping_and_missing_slices() -> None:
    whole = np.arange(24.0).reshape(6, 4)
    stored = [SliceSpec.parse(f"6 4 {s}").slice for s in ("0,3:0,2", "2,2:-", "4,2:-")]

    def read(part: TensorSlice) -> np.ndarray:
        return whole[part.indices(whole.shape)]

    for text in ("6 4 2,4:-", "6 4 0,6:1,1", "6 4 4,2:-"):
        spec = SliceSpec.parse(text)
        found = joined_slices("x", spec, whole.dtype, stored, read)
        np.testing.assert_array_equal(found, whole[spec.slice.indices(whole.shape)])
    full = SliceSpec((6, 4), TensorSlice.full(2))
    with pytest.raises(InvalidArgumentError, match=r"sufficient slices .* x .*: -:-"):
        joined_slices("x", full, whole.dtype, stored, read)
