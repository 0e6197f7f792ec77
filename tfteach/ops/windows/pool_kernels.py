"""Pooling kernels for any number of spatial dimensions, channels last.

Pooling along a dimension combines a few strided slices, one per element of the window;
windows are never copied.  Padding is excluded: each slice covers only the outputs whose
windows contain that element.  On a card each of these is one kernel (pool_on_card.py).

Source: core/kernels/pooling_ops_common.h, maxpooling_op.cc, avgpooling_op.cc.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from tfteach.framework.card_kernels import with_card_kernel
from tfteach.framework.threads import share
from tfteach.framework.type_aliases import ArrayModule
from tfteach.ops.windows import compiled_pool
from tfteach.ops.windows.conv_geometry import Windows

# Elements of the input processed at a time: 512 KB of float32.
BLOCK = 128 * 1024


def reach(
    windows: Windows, axis: int, element: int, size: int
) -> tuple[slice, slice] | None:
    """For one element of the window along an axis: its outputs and inputs.

    Returns:
      Slices of the output and of the input, of equal length; None if the element always
      falls on padding.
    """
    stride, before = windows.strides[axis], windows.pads[axis][0]
    shift = element * windows.dilations[axis] - before
    first = max(0, -(shift // stride))
    end = min(windows.out[axis], (size - 1 - shift) // stride + 1)
    if end <= first:
        return None
    start = first * stride + shift
    return slice(first, end), slice(
        start, start + (end - first - 1) * stride + 1, stride
    )


@with_card_kernel(lambda xp, x: [slice(None)])
def blocks(xp: ArrayModule, x: Any) -> list[slice]:
    """The images of `x`, a few at a time, so that they stay in the cache."""
    if not x.size:
        return [slice(None)]
    step = max(1, BLOCK * x.shape[0] // x.size)
    return [slice(i, i + step) for i in range(0, x.shape[0], step)]


def reduce_windows(xp: ArrayModule, combine: Any, x: Any, windows: Windows) -> Any:
    """`combine` (a ufunc) over the elements of each window, one dimension at a time.

    Args:
      xp: numpy or cupy.
      combine: `xp.fmax`, `xp.add`...
      x: array [batch, *sizes, channels].
      windows: their geometry; every window contains an element.

    Returns:
      An array [batch, *windows.out, channels].
    """
    shape = (x.shape[0], *windows.out, x.shape[-1])
    if not math.prod(shape):
        return xp.empty(shape, x.dtype)
    if combine in (xp.fmax, xp.maximum):
        result = _compiled_maximum(xp, x, windows)
        if result is not None:
            return result
    result = xp.empty(shape, x.dtype)
    last = len(windows.out) - 1

    def run(some: Sequence[slice]) -> None:
        for images in some:
            part = x[images]
            for axis in range(last + 1):
                target = result[images] if axis == last else None
                part = _reduce_axis(xp, combine, part, windows, axis, target)

    share(blocks(xp, x), run)
    return result


def _reduce_axis(
    xp: ArrayModule, combine: Any, x: Any, windows: Windows, axis: int, out: Any
) -> Any:
    size = x.shape[1 + axis]
    lead = (slice(None),) * (1 + axis)
    if out is None:
        shape = (*x.shape[: 1 + axis], windows.out[axis], *x.shape[2 + axis :])
        out = xp.empty(shape, x.dtype)
    # The first element after the padding is in every window.
    whole = windows.pads[axis][0]
    found = reach(windows, axis, whole, size)
    assert found is not None
    assert found[0] == slice(0, windows.out[axis]), "a window of padding only"
    base = x[*lead, found[1]]
    is_set = False
    for element in range(windows.window[axis]):
        found = reach(windows, axis, element, size)
        if element == whole or found is None:
            continue
        outputs, inputs = found
        if not is_set and outputs == slice(0, windows.out[axis]):
            combine(base, x[*lead, inputs], out=out)
        else:
            if not is_set:
                out[...] = base
            part = out[*lead, outputs]
            combine(part, x[*lead, inputs], out=part)
        is_set = True
    if not is_set:
        out[...] = base
    return out


def counts(
    xp: ArrayModule, sizes: tuple[int, ...], windows: Windows, dtype: Any
) -> Any:
    """The number of elements in each window, [*windows.out, 1]."""
    total = xp.ones((), dtype)
    for axis, size in enumerate(sizes):
        found = xp.zeros(windows.out[axis], dtype)
        for element in range(windows.window[axis]):
            reached = reach(windows, axis, element, size)
            if reached is not None:
                found[reached[0]] += 1
        total = total[..., None] * found
    return total[..., None]


def spread(xp: ArrayModule, grad: Any, sizes: tuple[int, ...], windows: Windows) -> Any:
    """Add `grad` to every element of each window: a sum's gradient."""
    result = xp.empty((grad.shape[0], *sizes, grad.shape[-1]), grad.dtype)
    for images in blocks(xp, result):
        part = grad[images]
        last = len(sizes) - 1
        for axis in range(last, -1, -1):
            shape = (*part.shape[: 1 + axis], sizes[axis], *part.shape[2 + axis :])
            wide = result[images] if axis == 0 else xp.empty(shape, grad.dtype)
            wide[...] = 0
            lead = (slice(None),) * (1 + axis)
            for element in range(windows.window[axis]):
                reached = reach(windows, axis, element, sizes[axis])
                if reached is not None:
                    outputs, inputs = reached
                    wide[*lead, inputs] += part[*lead, outputs]
            part = wide
    return result


def taps(
    windows: Windows, sizes: Sequence[int]
) -> Iterator[tuple[tuple[int, ...], tuple[slice, ...], tuple[slice, ...]]]:
    """The elements of a window in row-major order: index, outputs and inputs."""
    for tap in product(*(range(n) for n in windows.window)):
        found = [reach(windows, i, t, sizes[i]) for i, t in enumerate(tap)]
        if None not in found:
            yield tap, tuple(f[0] for f in found if f), tuple(f[1] for f in found if f)


def max_gradient(
    xp: ArrayModule,
    x: Any,
    y: Any,
    grad: Any,
    windows: Windows,
    to_all: bool = False,
) -> Any:
    """Add each window's gradient to its maximum, the first one in case of ties.

    Args:
      xp: numpy or cupy.
      x: the pooled array [batch, *sizes, channels].
      y: the maxima [batch, *windows.out, channels].
      grad: their gradient.
      windows: their geometry.
      to_all: in case of ties, add it to all of them.

    Returns:
      An array like `x`.
    """
    if not x.size:
        return xp.zeros(x.shape, grad.dtype)
    result = _compiled_gradient(xp, x, y, grad, windows, to_all)
    if result is not None:
        return result
    result = xp.zeros(x.shape, grad.dtype)
    apart = all(s >= w for s, w in zip(windows.strides, windows.window, strict=True))
    sizes = x.shape[1:-1]

    def run(some: Sequence[slice]) -> None:
        for images in some:
            left = xp.ones(y[images].shape, bool)
            for _, outputs, inputs in taps(windows, sizes):
                hit = x[images, *inputs] == y[images, *outputs]
                if not to_all:
                    open_here = left[:, *outputs]
                    hit &= open_here
                    open_here ^= hit
                target = result[images, *inputs]
                if apart:
                    _select(xp, hit, grad[images, *outputs], target)
                else:
                    target += _select(xp, hit, grad[images, *outputs])

    share(blocks(xp, x), run)
    return result


def _gradient_on_card(xp: ArrayModule, *arguments: Any) -> Any | None:
    return _on_card(xp, "max_gradient", *arguments)


def _on_card(xp: ArrayModule, function: str, *arguments: Any) -> Any | None:
    from tfteach.ops.windows import pool_on_card  # which CPUs do without

    return getattr(pool_on_card, function)(xp, *arguments)


@with_card_kernel(_on_card)
def on_card(xp: ArrayModule, function: str, *arguments: Any) -> Any | None:
    """A function of pool_on_card.py.  None for arrays of the host."""
    return None


@with_card_kernel(_gradient_on_card)
def _compiled_gradient(
    xp: ArrayModule, x: Any, y: Any, grad: Any, windows: Windows, to_all: bool
) -> Any | None:
    return compiled_pool.gradient(x, y, grad, windows, to_all)


def _maximum_on_card(xp: ArrayModule, x: Any, windows: Windows) -> Any | None:
    return _on_card(xp, "maximum", x, windows)


@with_card_kernel(_maximum_on_card)
def _compiled_maximum(xp: ArrayModule, x: Any, windows: Windows) -> Any | None:
    return compiled_pool.maximum(x, windows)


def _select(xp: ArrayModule, condition: Any, values: Any, out: Any = None) -> Any:
    """The values where the condition holds, otherwise 0, also for infinite values.

    The bits of numbers are masked: `xp.where` takes twice as long.
    """
    bits = f"int{8 * values.dtype.itemsize}"
    mask = -condition.view("int8").astype(bits)
    if out is not None:
        xp.bitwise_and(values.view(bits), mask, out=out.view(bits))
        return out
    mask &= values.view(bits)
    return mask.view(values.dtype)


def max_gradient_gradient(
    xp: ArrayModule, x: Any, y: Any, grad: Any, windows: Windows
) -> Any:
    """Select `grad` (shaped like `x`) at each window's first maximum."""
    found = on_card(xp, "max_gradient_gradient", x, y, grad, windows)
    if found is not None:
        return found
    result = xp.zeros(y.shape, grad.dtype)
    left = xp.ones(y.shape, bool)
    for _, outputs, inputs in taps(windows, x.shape[1:-1]):
        part = (slice(None), *outputs)
        hit = (x[:, *inputs] == y[part]) & left[part]
        left[part] ^= hit
        result[part] += _select(xp, hit, grad[:, *inputs])
    return result


def max_and_where(xp: ArrayModule, x: Any, windows: Windows) -> tuple[Any, Any]:
    """Each window's maximum, and the index of the first one in its image.

    Args:
      xp: numpy or cupy.
      x: array [batch, *sizes, channels].
      windows: their geometry.

    Returns:
      Two arrays [batch, *windows.out, channels]: the maxima, and int64 indices into the
      flattened image [*sizes, channels].
    """
    found = on_card(xp, "max_and_where", x, windows)
    if found is not None:
        best, where = found
        return best, where
    sizes, channels = x.shape[1:-1], x.shape[-1]
    best = xp.zeros((x.shape[0], *windows.out, channels), x.dtype)
    where = xp.full(best.shape, -1, "int64")
    places = xp.arange(x[0].size if len(x) else 0, dtype="int64")
    places = places.reshape((*sizes, channels) if len(x) else (0,))
    if not best.size:
        return best, where
    for _, outputs, inputs in taps(windows, sizes):
        part = (slice(None), *outputs)
        found = x[:, *inputs]
        better = (where[part] < 0) | (found > best[part])
        best[part] = xp.where(better, found, best[part])
        where[part] = xp.where(better, places[inputs], where[part])
    return best, where
