"""Convolution kernels for any number of spatial dimensions, channels last.

Where llvmlite is installed, conv_by_tiles.py computes the larger ones; on a card cuDNN
does (conv_by_cudnn.py), where it is installed.

Each is a matrix product: the windows of a few images (or of a few rows of a large
image) are copied into a buffer that fits in the cache, and multiplied by the filter's
matrix.  The copy costs a twentieth of the product; copying all windows at once would
take the input's memory times the window's size.

The gradients are computed alike.  The filter's gradient sums one product per buffer.
The input's is, for each remainder of the position modulo the stride, a convolution of
the output's gradient with the taps of the flipped filter that reach the position.

Source: core/kernels/conv_ops.cc, conv_grad_ops.h (what is computed).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import product
from math import gcd, prod
from typing import Any

from tfteach.framework.card_kernels import with_card_kernel
from tfteach.framework.threads import cores, share
from tfteach.framework.type_aliases import ArrayModule
from tfteach.ops.windows import conv_by_tiles
from tfteach.ops.windows.conv_geometry import Pairs, Windows

# Elements of the window buffer: 2 MB of float32.  A smaller one slows the products, a
# larger one exceeds the cache.
BLOCK = 512 * 1024
# Smaller work ends before another thread has started.
MIN_SHARED_WORK = 4_000_000
# On a GPU each product must occupy it fully; the buffer's size matters little.
CARD_BLOCK = 64 * 1024 * 1024


def convolve(xp: ArrayModule, x: Any, filters: Any, windows: Windows) -> Any:
    """The convolution (cross-correlation) of `x` with `filters`.

    Args:
      xp: numpy or cupy.
      x: array [batch, *sizes, channels].
      filters: array [*window, channels, outputs] of the same type.
      windows: the windows' geometry.

    Returns:
      An array [batch, *windows.out, outputs].
    """
    depth = filters.shape[-1]
    shape = (x.shape[0], *windows.out, depth)
    if not prod(shape) or not filters.size:
        return xp.zeros(shape, x.dtype)
    found = by_cudnn(xp, "output", x, filters, shape, windows)
    if found is not None:
        return found
    if _by_tiles(xp, x, depth, windows):
        return conv_by_tiles.convolve(x, filters, windows)
    result = xp.empty(shape, x.dtype)
    matrix = _wide(filters.reshape(-1, depth))
    pixels = _pixels(x, windows)
    if pixels is not None:
        return _product(xp, pixels.reshape(-1, x.shape[-1]), matrix, result)

    def run(batch: Sequence[int]) -> None:
        first, last = batch[0], batch[-1] + 1
        for images, rows, columns in patches(xp, x[first:last], windows):
            _product(xp, columns, matrix, result[first:last][images, rows])

    _by_images(xp, len(x), 2 * prod(result.shape[1:]) * len(matrix), run)
    return result


def filter_gradient(xp: ArrayModule, x: Any, grad: Any, windows: Windows) -> Any:
    """The gradient of `convolve` by its filters, [*window, channels, outputs]."""
    channels, depth = x.shape[-1], grad.shape[-1]
    shape = (*windows.window, channels, depth)
    if not grad.size or not x.size:
        return xp.zeros(shape, x.dtype)
    found = by_cudnn(xp, "filter", x, shape, grad, windows)
    if found is not None:
        return found
    if _by_tiles(xp, x, depth, windows):
        return conv_by_tiles.filter_gradient(x, grad, windows)
    pixels = _pixels(x, windows)
    if pixels is not None:
        flat = _wide(pixels.reshape(-1, channels))
        total = _dot(xp, flat.T, _wide(grad.reshape(-1, depth)))
        return total.astype(x.dtype, copy=False).reshape(shape)
    totals: dict[int, Any] = {}

    def run(batch: Sequence[int]) -> None:
        first, last = batch[0], batch[-1] + 1
        total = None
        for images, rows, columns in patches(xp, x[first:last], windows):
            lines = _wide(grad[first:last][images, rows].reshape(-1, depth))
            part = _dot(xp, columns.T, lines)
            total = part if total is None else xp.add(total, part, out=total)
        totals[first] = total

    _by_images(xp, len(x), 2 * prod(windows.out) * prod(shape), run)
    total = reduce(xp.add, (totals[first] for first in sorted(totals)))
    return total.astype(x.dtype, copy=False).reshape(shape)


def input_gradient(
    xp: ArrayModule, sizes: tuple[int, ...], filters: Any, grad: Any, windows: Windows
) -> Any:
    """The gradient of `convolve` by its input, [batch, *sizes, channels]."""
    axes = len(sizes)
    shape = (len(grad), *sizes, filters.shape[-2])
    found = by_cudnn(xp, "input", shape, filters, grad, windows)
    if found is not None:
        return found
    few = filters.shape[-2] * 4 <= filters.shape[-1]
    if few and not _by_tiles(xp, grad, filters.shape[-2], windows):
        return _scatter(xp, sizes, filters, grad, windows)
    flipped = xp.swapaxes(filters, -1, -2)
    parts = [
        [_reach(i, r, sizes[i], grad.shape[1 + i], windows) for r in range(stride)]
        for i, stride in enumerate(windows.strides)
    ]
    if all(stride == 1 for stride in windows.strides):
        return _convolve_part(xp, flipped, grad, [part[0] for part in parts])
    result = xp.zeros(shape, grad.dtype)
    for remainders in product(*(range(s) for s in windows.strides)):
        chosen = [parts[i][r] for i, r in enumerate(remainders)]
        if None not in chosen:
            where = tuple(
                slice(remainders[i], None, windows.strides[i]) for i in range(axes)
            )
            result[:, *where] = _convolve_part(xp, flipped, grad, chosen)
    return result


def _scatter(
    xp: ArrayModule, sizes: tuple[int, ...], filters: Any, grad: Any, windows: Windows
) -> Any:
    """`input_gradient` for few channels: one product for all taps, one sum per tap.

    There `input_gradient` would multiply matrices of hardly more than one column.
    """
    channels, depth = filters.shape[-2:]
    result = xp.zeros((grad.shape[0], *sizes, channels), grad.dtype)
    if not grad.size or not result.size:
        return result
    matrix = _wide(filters.reshape(-1, depth))
    rows = zip(sizes, *windows, strict=True)
    spans, crop = [], [slice(None), slice(None)]
    for size, width, stride, dilation, (before, _), out in rows:
        last = (out - 1) * stride + (width - 1) * dilation
        spans.append(max(before + size, last + 1))
        crop.append(slice(before, before + size))
    limit = _block_elements(xp)
    step = max(1, limit // (prod(windows.out) * matrix.shape[0]))
    for i in range(0, len(grad), step):
        part = _wide(grad[i : i + step])
        columns = _dot(xp, matrix, part.reshape(-1, depth).T)
        columns = columns.reshape(*filters.shape[:-1], len(part), *windows.out)
        canvas = xp.zeros((channels, len(part), *spans), columns.dtype)
        for tap in product(*(range(n) for n in windows.window)):
            begin = [t * d for t, d in zip(tap, windows.dilations, strict=True)]
            where = tuple(
                slice(b, b + (n - 1) * s + 1, s)
                for b, n, s in zip(begin, windows.out, windows.strides, strict=True)
            )
            canvas[:, :, *where] += columns[tap]
        result[i : i + step] = xp.moveaxis(canvas[tuple(crop)], 0, -1)
    return result


def _reach(
    axis: int, remainder: int, size: int, grad_size: int, windows: Windows
) -> Any:
    """The taps of the filter that reach the positions `remainder + stride * t`.

    Returns:
      The taps as a slice of the filter in descending order, their distance in the
      gradient, the padding (before, after), the number of positions; None if no tap
      reaches them.
    """
    width, stride = windows.window[axis], windows.strides[axis]
    dilation, before = windows.dilations[axis], windows.pads[axis][0]
    reached = remainder + before
    count = -(-(size - remainder) // stride)
    taps = [i for i in range(width) if (reached - i * dilation) % stride == 0]
    if not taps or count <= 0:
        return None
    step = stride // gcd(stride, dilation)
    first, last = taps[0], taps[-1]
    distance = dilation * step // stride
    lead = (last * dilation - reached) // stride
    trail = count - 1 + (len(taps) - 1) * distance - lead - (grad_size - 1)
    chosen = slice(last, first - 1 if first else None, -step)
    return chosen, distance, (lead, trail), count


def _convolve_part(xp: ArrayModule, flipped: Any, grad: Any, parts: list[Any]) -> Any:
    kernel = flipped[tuple(part[0] for part in parts)]
    windows = Windows(
        kernel.shape[: len(parts)],
        (1,) * len(parts),
        tuple(part[1] for part in parts),
        tuple(part[2] for part in parts),
        tuple(part[3] for part in parts),
    )
    return convolve(xp, grad, kernel, windows)


def _by_cudnn_on_card(xp: ArrayModule, *arguments: Any) -> Any | None:
    from tfteach.ops.windows import conv_by_cudnn  # which CPUs do without

    return conv_by_cudnn.compute(xp, *arguments)


@with_card_kernel(_by_cudnn_on_card)
def by_cudnn(
    xp: ArrayModule, result: str, input: Any, filter: Any, output: Any, windows: Windows
) -> Any | None:
    """See conv_by_cudnn.compute.  None for arrays of the host."""
    return None


@with_card_kernel(lambda xp, x, depth, windows: False)
def _by_tiles(xp: ArrayModule, x: Any, depth: int, windows: Windows) -> bool:
    """Whether conv_by_tiles.py computes the convolution of `x` to `depth` outputs."""
    return conv_by_tiles.applies(x, depth, windows)


@with_card_kernel(lambda xp: CARD_BLOCK)
def _block_elements(xp: ArrayModule) -> int:
    """How many elements of windows are laid out at a time."""
    return BLOCK


@with_card_kernel(lambda xp, count, work, run: run(range(count)))
def _by_images(
    xp: ArrayModule, count: int, work: int, run: Callable[[Sequence[int]], None]
) -> None:
    """Call `run` with ranges of images, on all cores if there is enough `work`.

    Args:
      work: multiply-adds per image.
    """
    batch = range(count)
    if count >= cores() and count * work > MIN_SHARED_WORK:
        share(batch, run)
    else:
        run(batch)


# ---- the windows of an array as a matrix


def patches(
    xp: ArrayModule, x: Any, windows: Windows
) -> Iterator[tuple[slice, slice, Any]]:
    """The windows as rows of matrices, a few at a time.

    Yields:
      The images, the output rows, and a matrix with a row for each output position and
      a column for each element of the window; it is valid until the next iteration.
    """
    window, out = windows.window, windows.out
    batch, channels = x.shape[0], x.shape[-1]
    limit = _block_elements(xp)
    per_image = prod(out) * prod(window) * channels
    images = min(batch, max(1, limit // per_image))
    rows = out[0] if per_image <= limit else max(1, limit * out[0] // per_image)
    # NumPy copies either a row of the window at once, or a row of the output.
    by_taps = window[-1] * channels < out[-1]
    lines = (images, rows, *out[1:])
    taps = (*window, channels)
    buffer = xp.empty((*taps, *lines) if by_taps else (*lines, *taps), _work_type(x))
    source = Source(xp, x, windows, images)
    for i in range(0, batch, images):
        view = source.view(i)
        for r in range(0, out[0], rows):
            part = view[:, r : r + rows]
            count, height = part.shape[:2]
            at = slice(i, i + count), slice(r, r + height)
            if by_taps:
                whole = (slice(None),) * len(taps)
                columns = buffer[*whole, :count, :height]
                if columns.shape != buffer.shape:  # the last: stay contiguous
                    columns = xp.empty((*taps, *part.shape[: len(lines)]), buffer.dtype)
                order = (*range(len(lines), part.ndim), *range(len(lines)))
                columns[...] = part.transpose(order)
                yield *at, columns.reshape(prod(taps), -1).T
            else:
                columns = buffer[:count, :height]
                columns[...] = part
                yield *at, columns.reshape(-1, prod(taps))


class Source:
    """Padded images in a reused buffer, a block at a time."""

    def __init__(self, xp: ArrayModule, x: Any, windows: Windows, images: int) -> None:
        self.xp, self.images, self.windows = xp, images, windows
        begin, pads = [], []
        for i, size in enumerate(x.shape[1:-1]):
            before, _ = windows.pads[i]
            begin.append(max(-before, 0))
            pads.append((max(before, 0), self._after(i, size)))
        self.x = x[:, *(slice(b, None) for b in begin)]
        self.pads: Pairs = tuple(pads)
        self.buffer = None
        if any(any(pad) for pad in pads):
            sizes = [
                n + sum(pad) for n, pad in zip(self.x.shape[1:-1], pads, strict=True)
            ]
            self.buffer = xp.zeros((images, *sizes, x.shape[-1]), x.dtype)

    def _after(self, axis: int, size: int) -> int:
        """The padding that the last window requires at the end."""
        windows = self.windows
        end = (windows.out[axis] - 1) * windows.strides[axis]
        end += (windows.window[axis] - 1) * windows.dilations[axis] + 1
        return max(end - size - windows.pads[axis][0], 0)

    def view(self, first: int) -> Any:
        """The windows of a block of images, [images, *out, *window, channels]."""
        block = self.x[first : first + self.images]
        if self.buffer is not None:
            inner = tuple(
                slice(pad[0], pad[0] + n)
                for n, pad in zip(block.shape[1:-1], self.pads, strict=True)
            )
            padded = self.buffer[: block.shape[0]]
            padded[:, *inner] = block
            block = padded
        windows, steps = self.windows, block.strides
        middle = steps[1:-1]
        return self.xp.lib.stride_tricks.as_strided(
            block,
            (block.shape[0], *windows.out, *windows.window, block.shape[-1]),
            (
                steps[0],
                *(n * s for n, s in zip(middle, windows.strides, strict=True)),
                *(n * d for n, d in zip(middle, windows.dilations, strict=True)),
                steps[-1],
            ),
        )


def _pixels(x: Any, windows: Windows) -> Any:
    """A view of the input for windows of one pixel; None for larger windows."""
    if any(n != 1 for n in windows.window) or any(any(p) for p in windows.pads):
        return None
    return x[:, *(slice(0, None, stride) for stride in windows.strides)]


def _product(xp: ArrayModule, columns: Any, matrix: Any, out: Any) -> Any:
    flat = (columns.shape[0], matrix.shape[1])
    if out.dtype == matrix.dtype == columns.dtype and out.flags.c_contiguous:
        _dot(xp, columns, matrix, out.reshape(flat))
    else:
        out[...] = _dot(xp, _wide(columns), matrix).reshape(out.shape)
    return out


def _dot_on_card(xp: ArrayModule, a: Any, b: Any, out: Any = None) -> Any:
    from tfteach.framework import card_products  # which CPUs do without

    return card_products.matmul(xp, a, b, out)


@with_card_kernel(_dot_on_card)
def _dot(xp: ArrayModule, a: Any, b: Any, out: Any = None) -> Any:
    return xp.dot(a, b, out=out)


def _work_type(array: Any) -> Any:
    return array.dtype if array.dtype.itemsize > 2 else "float32"


def _wide(array: Any) -> Any:
    """Short floats as float32, for speed and accuracy of matrix products."""
    return array.astype(_work_type(array), copy=False)
