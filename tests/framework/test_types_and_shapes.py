"""DType, TensorShape and Dimension: TensorFlow 1.15's values, as it prints them."""

from __future__ import annotations

import copy
import pickle
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tfteach as tf
from tfteach.framework import shape as shapes
from tfteach.framework.dimension import Dimension
from tfteach.framework.dtypes import (
    as_dtype,
    bfloat16,
    bool_,
    complex64,
    dtypes_of,
    float16,
    float32,
    int8,
    qint8,
    string,
    uint8,
    variant,
)
from tfteach.framework.shape import TensorShape

NUMBERS = (
    "float 1 double 2 int32 3 uint8 4 int16 5 int8 6 string 7 complex64 8 int64 9 "
    "bool 10 qint8 11 quint8 12 qint32 13 bfloat16 14 qint16 15 quint16 16 uint16 17 "
    "complex128 18 half 19 resource 20 variant 21 uint32 22 uint64 23"
).split()


@pytest.mark.parametrize(
    ("name", "number"), list(zip(NUMBERS[::2], NUMBERS[1::2], strict=True))
)
def test_numbers_of_types_proto(name: str, number: str) -> None:
    dtype = as_dtype(name)
    assert dtype.as_datatype_enum == int(number)
    assert as_dtype(int(number)) is dtype
    assert as_dtype(int(number) + 100) is dtype.as_ref
    assert dtype.as_ref.base_dtype is dtype
    assert dtype.as_ref.name == f"{dtype.name}_ref"


def test_as_dtype_takes_what_numpy_and_python_call_it() -> None:
    assert as_dtype(np.int8) is int8
    assert as_dtype(np.dtype("float32")) is float32
    assert as_dtype(float) is float32
    assert as_dtype(bool) is bool_
    assert as_dtype(object) is string
    assert as_dtype(ml_dtypes.bfloat16) is bfloat16
    assert as_dtype(np.dtype("U3")) is string
    with pytest.raises(TypeError, match="Cannot convert value 'foo' to a TensorFlow"):
        as_dtype("foo")
    for refused in (int, str, bytes, complex, "int", "f4", b"float32", np.array(1)):
        with pytest.raises(TypeError, match="to a TensorFlow DType"):
            as_dtype(refused)


def test_equality_accepts_other_forms_and_refuses_none() -> None:
    assert float32 == np.float32
    assert float32 == "float32"
    assert float32 != "no type"
    assert float32 is not None
    assert float32 != float32.as_ref
    assert len({float32, as_dtype("float"), float16}) == 2


def test_compatibility_is_one_way() -> None:
    assert float32.is_compatible_with(float32.as_ref)
    assert not float32.as_ref.is_compatible_with(float32)


def test_kinds_sizes_and_limits() -> None:
    assert int8.is_integer
    assert not qint8.is_integer
    assert qint8.is_quantized
    assert complex64.is_complex
    assert complex64.real_dtype is float32
    assert uint8.is_unsigned
    assert (int8.limits, uint8.limits, float32.limits) == (
        (-128, 127),
        (0, 255),
        (0, 1),
    )
    assert (float32.size, string.size, variant.size, complex64.size) == (4, 8, 1, 8)
    assert float32.max == np.finfo(np.float32).max
    assert float(bfloat16.max) == 3.3895313892515355e38
    with pytest.raises(TypeError, match=r"Cannot find minimum value of"):
        _ = bool_.min


def test_names_and_copies() -> None:
    assert (repr(float32), str(float32)) == ("tf.float32", "<dtype: 'float32'>")
    assert copy.deepcopy(float32) is float32
    assert pickle.loads(pickle.dumps(float32.as_ref)) is float32.as_ref
    assert dtypes_of("half int8") == (float16, int8)


# ---- shapes


def test_texts_are_tensorflows() -> None:
    texts = [str(TensorShape(s)) for s in ([1, None], None, [], [5])]
    assert texts == ["(1, ?)", "<unknown>", "()", "(5,)"]
    assert repr(TensorShape([2])) == "TensorShape([Dimension(2)])"
    assert repr(TensorShape(None)) == "TensorShape(None)"
    assert repr(Dimension(None)) == "Dimension(None)"
    assert [str(Dimension(n)) for n in (None, 3)] == ["?", "3"]


def test_dimension_arithmetic() -> None:
    d, unknown = Dimension(7), Dimension(None)
    assert [int(n) for n in (d + 2, 2 + d, d - 2, 9 - d, d * 2, d // 2, d % 4)] == [
        9, 9, 5, 2, 14, 3, 3,
    ]  # fmt: skip
    assert (unknown * 3).value is None
    assert (unknown == 3) is None
    assert (unknown < 4) is None
    assert d == 7
    assert d > 6
    assert not d <= 6
    assert list(range(9))[d] == 7
    with pytest.raises(ValueError, match="are not compatible"):
        d.merge_with(4)


def test_indexing_and_joining() -> None:
    shape = TensorShape([1, None, 3])
    assert shape[1].value is None
    assert shape[1:].as_list() == [None, 3]
    assert shape.concatenate([4]).as_list() == [1, None, 3, 4]
    assert (shape.ndims, len(shape), shape.num_elements()) == (3, 3, None)
    assert TensorShape([2, 3]).num_elements() == 6
    assert TensorShape(None)[0].value is None
    assert TensorShape(None)[1:3].as_list() == [None, None]
    assert not TensorShape(None)
    with pytest.raises(ValueError, match="unknown"):
        TensorShape(None).as_list()


def test_protos_go_both_ways() -> None:
    for sizes in (None, [], [2, None, 3]):
        proto = TensorShape(sizes).as_proto()
        assert TensorShape(proto).dims_or_none == TensorShape(sizes).dims_or_none


def shapes_of(sizes: list[Any]) -> list[Any]:
    """All shapes of at most three dimensions of these sizes."""
    return [shape for rank in range(4) for shape in product(sizes, repeat=rank)]


def test_merge_is_symmetric_and_keeps_what_is_known() -> None:
    for a, b in product([None, *shapes_of([None, 1, 2])], repeat=2):
        if not shapes.compatible(a, b):
            with pytest.raises(ValueError, match="must be equal"):
                shapes.merge(a, b)
            continue
        both = shapes.merge(a, b)
        assert both == shapes.merge(b, a)
        assert shapes.merge(both, a) == both
        assert shapes.compatible(both, b)


def test_broadcast_is_numpys() -> None:
    for a, b in product(shapes_of([1, 2, 3]), repeat=2):
        try:
            right = np.broadcast_shapes(a, b)
        except ValueError:
            with pytest.raises(ValueError, match="Dimensions must be equal"):
                shapes.broadcast(a, b)
            continue
        assert shapes.broadcast(a, b) == right
        hidden = tuple(None for _ in a)
        assert shapes.compatible(shapes.broadcast(hidden, b), right)


def test_sizes_in_lists_of_numbers() -> None:
    with tf.Graph().as_default():
        x = tf.zeros([4, 6])
        assert tf.reshape(x, [-1, x.shape[0] * 2]).shape == [3, 8]
        assert tf.reshape(x, (x.shape[1], 4)).shape == [6, 4]
        assert tf.fill([x.shape[0], 3], 1.0).shape == [4, 3]
        assert tf.constant([[1, x.shape[1]]], tf.int64).dtype == tf.int64
        with pytest.raises(TypeError, match=r"Contents: \[1, Dimension\(4\)\]"):
            tf.constant([1, x.shape[0]])
        with pytest.raises(TypeError, match="Expected float32, got Dimension"):
            tf.constant([x.shape[0]], tf.float32)
        with pytest.raises(TypeError, match=r"Contents: \[-1, Dimension\(None\)\]"):
            tf.reshape(x, [-1, tf.Dimension(None)])


def test_shape_as_list_of_old_code() -> None:
    with tf.Graph().as_default():
        for shape in ([2, 3], [None, 2], [], None):
            assert tf.placeholder(tf.float32, shape)._shape_as_list() == shape
