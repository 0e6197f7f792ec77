"""Convolutions and pooling on a real card: values and times.

A convolution is computed by cuDNN, and as products of windows; pooling by one kernel.
All are compared with the CPU.  A row says why cuDNN has no plan.  Times are
milliseconds of one of many calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.benchmarks.card_model import measured_s
from tests.golden.cudnn_plans import SIZES
from tfteach.ops.windows import conv_by_cudnn, conv_kernels, pool, pool_kernels
from tfteach.ops.windows import conv_geometry as geometry

Row = tuple[str, Callable[[], dict[str, Any]]]
CONVOLUTIONS = (
    "LeNet, first|LeNet, second|ResNet, first|pointwise|uneven|dilated with strides|"
    "large window|volumes"
).split("|")
# Sizes of the input, window, strides.
POOLS: dict[str, tuple[Any, ...]] = {
    "LeNet": ((128, 28, 28, 32), (2, 2), (2, 2)),
    "ResNet": ((8, 112, 112, 64), (3, 3), (2, 2)),
    "volumes": ((2, 8, 16, 16, 8), (2, 2, 2), (2, 2, 2)),
}


def _ms(call: Callable[[], Any]) -> float:
    import cupy

    return float(f"{1e3 * measured_s(cupy, call):.3g}")


def _on_card(array: Any, is_first: bool) -> Any:
    """In the card's memory, where the channels may come before the sizes."""
    import cupy

    if not is_first:
        return cupy.asarray(array)
    planes = cupy.asarray(np.ascontiguousarray(np.moveaxis(array, -1, 1)))
    return cupy.moveaxis(planes, 1, -1)


def _off(found: Any, right: Any) -> float:
    """The largest difference, relative to the largest number."""
    right = np.asarray(right, float)
    difference = np.abs(found.get().astype(float) - right).max(initial=0.0)
    return float(f"{difference / max(1.0, np.abs(right).max(initial=0.0)):.2g}")


def convolution(name: str, dtype: str, is_first: bool) -> dict[str, Any]:
    """The output of a convolution, and its gradients by the input and the filter."""
    import cupy

    sizes, window, strides, dilations, padding = SIZES[name]
    windows = geometry.lay(sizes[1:-1], window[:-2], strides, dilations, padding)
    draw = np.random.default_rng(0).standard_normal
    x, filters, y = (
        draw(shape).astype(dtype)
        for shape in (sizes, window, (sizes[0], *windows.out, window[-1]))
    )

    def calls(xp: Any, x: Any, filters: Any, y: Any) -> list[Callable[[], Any]]:
        return [
            lambda: conv_kernels.convolve(xp, x, filters, windows),
            lambda: conv_kernels.input_gradient(xp, sizes[1:-1], filters, y, windows),
            lambda: conv_kernels.filter_gradient(xp, x, y, windows),
        ]

    wide = [np.asarray(array, np.float32) for array in (x, filters, y)]
    right = [call() for call in calls(np, *wide)]
    arrays = _on_card(x, is_first), cupy.asarray(filters), _on_card(y, is_first)
    found: dict[str, Any] = {}
    by_cudnn = conv_kernels.by_cudnn
    for way in ("cudnn", "products"):
        if way == "products":
            conv_kernels.by_cudnn = lambda *_: None
        try:
            on_card = calls(cupy, *arrays)
            found[f"{way}_off"] = [
                _off(call(), expected)
                for call, expected in zip(on_card, right, strict=True)
            ]
            found[f"{way}_ms"] = [_ms(call) for call in on_card]
        finally:
            conv_kernels.by_cudnn = by_cudnn
    found["ok"] = max(found["cudnn_off"]) < (0.02 if dtype == "float16" else 0.01)
    asked = conv_by_cudnn.plans(cupy).items()
    reasons = {r for c, r in asked if (c.windows, c.dtype) == (windows, dtype)}
    return {**found, "refused": sorted(reasons - {""})}


def pooling(name: str, dtype: str) -> dict[str, Any]:
    """The maximum and its gradient, the mean and its gradient."""
    import cupy

    sizes, window, strides = POOLS[name]
    ones = (1,) * len(window)
    windows = geometry.lay(sizes[1:-1], window, strides, ones, "SAME")
    draw = np.random.default_rng(0).integers
    x = draw(-9, 9, sizes).astype(dtype)
    y = pool_kernels.reduce_windows(np, np.fmax, x, windows)
    grad = draw(-9, 9, y.shape).astype(dtype)

    def calls(xp: Any, x: Any, y: Any, grad: Any) -> list[Callable[[], Any]]:
        return [
            lambda: pool_kernels.reduce_windows(xp, xp.fmax, x, windows),
            lambda: pool_kernels.max_gradient(xp, x, y, grad, windows),
            lambda: pool.mean_windows(xp, x, windows),
            lambda: pool.spread_means(xp, sizes[1:-1], grad, windows),
        ]

    right = [call() for call in calls(np, x, y, grad)]
    on_card = calls(cupy, *map(cupy.asarray, (x, y, grad)))
    off = [_off(call(), value) for call, value in zip(on_card, right, strict=True)]
    return {"off": off, "ok": max(off) < 0.01, "ms": [_ms(c) for c in on_card]}


def rows() -> Iterator[Row]:
    """A row for each; its numbers are in the order of the functions' first lines."""
    for name in CONVOLUTIONS:
        for dtype in ("float32", "float16"):
            for is_first in (False, True):
                layout = "channels first" if is_first else "channels last"
                yield (
                    f"convolution {name}, {dtype}, {layout}",
                    lambda n=name, d=dtype, f=is_first: convolution(n, d, f),
                )
    for name in POOLS:
        for dtype in ("float32", "float16"):
            yield f"pooling {name}, {dtype}", lambda n=name, d=dtype: pooling(n, d)
