"""Convolutions by the compiled inner loop equal those by matrix products."""

import threading
from itertools import product

import ml_dtypes
import numpy as np
import pytest

from tfteach.framework import machine_code, threads
from tfteach.framework.machine_code import Vectors
from tfteach.ops.windows import conv_by_tiles, conv_kernels, outer_products
from tfteach.ops.windows.conv_geometry import Windows

pytestmark = pytest.mark.skipif(
    machine_code.vectors() is None, reason="nothing can be compiled here"
)
TOLERANCES = {"float32": 2e-6, "float64": 1e-14, "float16": 1e-3, "bfloat16": 1e-2}


def windows(sizes, window, strides, dilations, padding="SAME"):
    pads, out = [], []
    for n, width, stride, dilation in zip(
        sizes, window, strides, dilations, strict=True
    ):
        span = (width - 1) * dilation + 1
        positions = -(-n // stride) if padding == "SAME" else (n - span) // stride + 1
        total = max((positions - 1) * stride + span - n, 0)
        pads.append((total // 2, total - total // 2))
        out.append(positions)
    return Windows(window, strides, dilations, tuple(pads), tuple(out))


def data(batch, sizes, channels, geometry, depth, dtype):
    rng = np.random.default_rng(1)
    shapes = (
        (batch, *sizes, channels),
        (*geometry.window, channels, depth),
        (batch, *geometry.out, depth),
    )
    dtype = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes]


def check(x, filters, grad, geometry, tolerance):
    """Both functions against matrix products in float64."""
    wide = [array.astype(np.float64) for array in (x, filters, grad)]
    for result, expected in (
        (
            conv_by_tiles.convolve(x, filters, geometry),
            conv_kernels.convolve(np, wide[0], wide[1], geometry),
        ),
        (
            conv_by_tiles.filter_gradient(x, grad, geometry),
            conv_kernels.filter_gradient(np, wide[0], wide[2], geometry),
        ),
    ):
        assert result.dtype == x.dtype
        assert result.shape == expected.shape
        scale = np.abs(expected).max()
        assert np.abs(result.astype(np.float64) - expected).max() <= tolerance * scale


GEOMETRIES = {
    "one pixel": (1, (1, 1), 4, windows((1, 1), (3, 3), (2, 2), (1, 1)), 20),
    "padded": (3, (10, 12), 5, windows((10, 12), (3, 3), (1, 1), (1, 1)), 20),
    "strides, dilations": (
        2,
        (17, 13),
        5,
        windows((17, 13), (5, 3), (3, 1), (1, 2)),
        40,
    ),
    "stride beyond window": (2, (9, 9), 8, windows((9, 9), (1, 1), (2, 3), (1, 1)), 16),
    "valid, in place": (
        9,
        (7, 8),
        6,
        windows((7, 8), (3, 2), (1, 2), (1, 1), "VALID"),
        64,
    ),
    "one position per row": (
        4,
        (30, 8),
        1,
        windows((30, 8), (3, 8), (1, 1), (1, 1), "VALID"),
        32,
    ),
    "parts of an image": (
        2,
        (80, 41),
        64,
        windows((80, 41), (3, 3), (1, 1), (1, 1)),
        16,
    ),
    "parts of a line": (1, (9000,), 32, windows((9000,), (5,), (2,), (1,)), 16),
    "filter in pieces": (2, (6, 7), 130, windows((6, 7), (3, 3), (1, 1), (1, 1)), 130),
    "volume": (
        3,
        (5, 6, 7),
        3,
        windows((5, 6, 7), (2, 3, 2), (1, 2, 1), (1, 1, 2)),
        24,
    ),
    "cropped and padded": (
        2,
        (11, 10),
        4,
        Windows((3, 3), (1, 1), (1, 1), ((-2, 1), (2, -1)), (8, 9)),
        20,
    ),
    "windows in the padding": (
        2,
        (2, 2),
        4,
        Windows((2, 2), (1, 1), (1, 1), ((4, 4), (4, 4)), (9, 9)),
        20,
    ),
}


@pytest.mark.parametrize("name", GEOMETRIES)
def test_geometries(name):
    batch, sizes, channels, geometry, depth = GEOMETRIES[name]
    check(
        *data(batch, sizes, channels, geometry, depth, "float32"),
        geometry,
        TOLERANCES["float32"],
    )


@pytest.mark.parametrize("dtype", TOLERANCES)
def test_types(dtype):
    geometry = windows((9, 10), (3, 3), (1, 1), (1, 1))
    arrays = data(3, (9, 10), 7, geometry, 21, dtype)
    check(*arrays, geometry, TOLERANCES[dtype])


# Those of AVX-512, AVX2 and NEON; the compiler splits what this processor lacks.
@pytest.mark.parametrize("found", [Vectors(64, 32), Vectors(32, 16), Vectors(16, 32)])
def test_processors(monkeypatch, found):
    monkeypatch.setattr(outer_products, "vectors", lambda: found)
    geometry = windows((9, 10), (3, 3), (1, 1), (1, 1))
    for depth in (3, 29, 80):
        arrays = data(2, (9, 10), 5, geometry, depth, "float32")
        check(*arrays, geometry, TOLERANCES["float32"])


@pytest.mark.parametrize("depth", [1, 15, 16, 17, 31, 50, 64, 65])
def test_results_end_where_they_should(depth):
    """The last vector of a row is stored in part."""
    geometry = windows((4, 5), (1, 1), (1, 1), (1, 1))
    x, filters, _ = data(1, (4, 5), 3, geometry, depth, "float32")
    room = np.full(20 * depth + 64, np.float32(7))
    for columns in outer_products.column_blocks(depth, 4):
        block = np.ascontiguousarray(
            filters[0, 0, :, columns.first :][:, : columns.size]
        )
        plan = conv_by_tiles._Plan(
            conv_by_tiles._Layout(1, (15, 3), 60), geometry, 4, 3, depth, x.dtype
        )
        plan.convolve(x.ctypes.data, block, room.ctypes.data, columns)
    assert (room[20 * depth :] == 7).all()
    found = room[: 20 * depth].reshape(4, 5, depth)
    np.testing.assert_allclose(found, (x @ filters[0, 0])[0], rtol=1e-5, atol=1e-5)


def test_tiles_cover_all_places():
    for depth, places in product((5, 16, 48, 64, 300), range(1, 60)):
        for columns in outer_products.column_blocks(depth, 4):
            size, large, small = outer_products.tiles(places, columns)
            assert large > 0 <= small
            assert size * large + (size - 1) * small == places


def test_inputs_in_another_memory_order():
    geometry = windows((9, 10), (3, 3), (1, 1), (1, 1), "VALID")
    x, filters, grad = data(3, (9, 10), 7, geometry, 21, "float32")
    first = np.ascontiguousarray(np.moveaxis(x, -1, 1))
    check(np.moveaxis(first, 1, -1), filters, grad, geometry, TOLERANCES["float32"])
    flipped = np.ascontiguousarray(filters.swapaxes(-1, -2)).swapaxes(-1, -2)
    check(x, flipped, grad[:, ::-1][:, ::-1], geometry, TOLERANCES["float32"])


def test_the_number_of_threads_does_not_matter(monkeypatch):
    geometry = windows((20, 20), (3, 3), (1, 1), (1, 1))
    x, filters, grad = data(11, (20, 20), 16, geometry, 32, "float32")
    results = []
    for count in (1, 2, 3):
        monkeypatch.setattr(threads, "cores", lambda count=count: count)
        monkeypatch.setattr(threads, "thread_count", lambda: 3)
        results.append(
            (
                conv_by_tiles.convolve(x, filters, geometry).tobytes(),
                conv_by_tiles.filter_gradient(x, grad, geometry).tobytes(),
            )
        )
    assert results[0] == results[1] == results[2]


def test_where_they_apply(monkeypatch):
    geometry = windows((28, 28), (5, 5), (1, 1), (1, 1))
    x = np.zeros((64, 28, 28, 1), np.float32)
    assert conv_by_tiles.applies(x, 32, geometry)
    assert not conv_by_tiles.applies(x[:1], 32, geometry)  # too little work
    assert not conv_by_tiles.applies(x, 1, geometry)  # vectors would be mostly empty
    assert not conv_by_tiles.applies(x.astype(np.int32), 32, geometry)
    monkeypatch.setattr(conv_by_tiles, "vectors", lambda: None)
    assert not conv_by_tiles.applies(x, 32, geometry)


def test_threads_that_ask_at_once_compile_a_kernel_once(monkeypatch):
    second, count = threading.Event(), []

    def compiled(*given):
        count.append(given)
        if len(count) > 1:
            second.set()
        second.wait(0.1)  # the other thread's, if it comes

    monkeypatch.setattr(outer_products, "compiled", compiled)
    outer_products._kernel.cache_clear()
    [columns] = outer_products.column_blocks(3, 4)
    tiles = outer_products.tiles(5, columns)

    def ask():
        outer_products.kernel(tiles, columns, np.dtype(np.float32))

    askers = [threading.Thread(target=ask) for _ in range(2)]
    for thread in askers:
        thread.start()
    for thread in askers:
        thread.join(60)
    outer_products._kernel.cache_clear()
    assert len(count) == 1
