"""Pooling by kernels of a card: those of pool_kernels.py, which see.

NVIDIA's front end for cuDNN has no pooling, and cuDNN does not say which of several
maxima gets the gradient.  Each op is one kernel here.  A thread computes one element of
the result and reads what it needs of the windows, so that nothing is added up between
threads, and a result does not depend on their order.

Window and strides are constants of the program, sizes are its arguments.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from tfteach.framework.type_aliases import ArrayModule
from tfteach.ops.windows.conv_geometry import Windows

_THREADS = 256  # in a block of the card's
# Arrays of fewer elements are indexed by int, in which a card divides several times
# faster than in long long.  A window may begin before an array or end behind it.
_INT_INDEXED_BELOW = 1 << 30
_NUMBERS = {
    "float16": "float",  # converted before and afterwards
    "bfloat16": "float",
    "float32": "float",
    "float64": "double",
    "int8": "signed char",
    "uint8": "unsigned char",
    "int16": "short",
    "int32": "int",
    "int64": "long long",
}
_KERNEL = """\
extern "C" __global__ void pool({parameters}) {{
{index} i = ({index})((long long)blockIdx.x * blockDim.x + threadIdx.x);
if (i < count) {{
{index} c = i % channels;
{index} rest = i / channels;
{body}
}}
}}
"""


class _Form(NamedTuple):
    """What a program is written for.

    Attributes:
      integer: C's type of positions.
      numbers: C's types of the arrays that are read.
      window, strides: of the pooling.
    """

    integer: str
    numbers: tuple[str, ...]
    window: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def axes(self) -> range:
        return range(len(self.window))

    def position(self, names: str, sizes: str) -> str:
        """The number of an element in memory, for positions such as p0, p1."""
        found = "image"
        for k in self.axes:
            found = f"({found} * {sizes}{k} + {names}{k})"
        return f"{found} * channels + c"

    def split(self, names: str, sizes: str) -> str:
        """Statements for the positions of the thread's element."""
        lines = []
        for k in reversed(self.axes):
            lines.append(f"{self.integer} {names}{k} = rest % {sizes}{k};")
            lines.append(f"rest = rest / {sizes}{k};")
        return "\n".join([*lines, f"{self.integer} image = rest;"])

    def over_window(self, body: str, tap: str = "t", place: str = "p") -> str:
        """`body` for each element of the window of the output o0, o1..."""
        for k in reversed(self.axes):
            body = (
                f"for (int {tap}{k} = 0; {tap}{k} < {self.window[k]}; ++{tap}{k}) {{\n"
                f"{self.integer} {place}{k} = "
                f"o{k} * {self.strides[k]} + {tap}{k} - before{k};\n"
                f"if ({place}{k} >= 0 && {place}{k} < size{k}) {{\n{body}\n}}\n}}"
            )
        return body

    def over_outputs(self, body: str) -> str:
        """`body` for each output whose window the input p0, p1... is in."""
        for k in reversed(self.axes):
            step = self.strides[k]
            body = (
                f"for (int t{k} = 0; t{k} < {self.window[k]}; ++t{k}) {{\n"
                f"{self.integer} from{k} = p{k} + before{k} - t{k};\n"
                f"{self.integer} o{k} = from{k} / {step};\n"
                f"if (from{k} >= 0 && o{k} * {step} == from{k} && o{k} < out{k}) {{\n"
                f"{body}\n}}\n}}"
            )
        return body

    def order(self, tap: str) -> str:
        """The number of an element in the window."""
        found = f"{tap}0"
        for k in self.axes[1:]:
            found = f"({found} * {self.window[k]} + {tap}{k})"
        return found


def _maximum(form: _Form) -> str:
    """Numbers are preferred to NaN."""
    kind = form.numbers[0]
    body = form.over_window(
        f"{kind} value = x0[{form.position('p', 'size')}];\n"
        "if (seen == 0 || value > best || best != best) {\n"
        "best = value;\nseen = 1;\n}"
    )
    start = f"{kind} best = ({kind})0;\nint seen = 0;\n"
    return f"{form.split('o', 'out')}\n{start}{body}\ny[i] = best;"


def _first_maximum(form: _Form) -> str:
    """Where the maximum is in its image; NaN only if it comes first."""
    kind = form.numbers[0]
    body = form.over_window(
        f"{kind} value = x0[{form.position('p', 'size')}];\n"
        "if (where < 0 || value > best) {\n"
        f"best = value;\nwhere = {form.position('p', 'size')} - image * volume;\n}}"
    )
    volume = " * ".join([*(f"size{k}" for k in form.axes), "channels"])
    start = f"{kind} best = ({kind})0;\n{form.integer} where = -1;\n"
    start += f"{form.integer} volume = {volume};\n"
    return f"{form.split('o', 'out')}\n{start}{body}\ny[i] = (long long)where;"


def _mean(form: _Form) -> str:
    kind = form.numbers[0]
    body = form.over_window(
        f"total = total + x0[{form.position('p', 'size')}];\nseen = seen + 1;"
    )
    start = f"{kind} total = ({kind})0;\nint seen = 0;\n"
    mean = f"y[i] = total / ({kind})seen;"
    return f"{form.split('o', 'out')}\n{start}{body}\n{mean}"


def _mean_gradient(form: _Form) -> str:
    kind = form.numbers[0]
    body = ""
    for k in form.axes:
        body += (
            f"{form.integer} low{k} = o{k} * {form.strides[k]} - before{k};\n"
            f"{form.integer} high{k} = low{k} + {form.window[k]};\n"
            f"low{k} = low{k} < 0 ? 0 : low{k};\n"
            f"high{k} = high{k} > size{k} ? size{k} : high{k};\n"
        )
    count = " * ".join(f"(high{k} - low{k})" for k in form.axes)
    body += f"total = total + x0[{form.position('o', 'out')}] / ({kind})({count});"
    start = f"{kind} total = ({kind})0;\n"
    loops = form.over_outputs(body)
    return f"{form.split('p', 'size')}\n{start}{loops}\ny[i] = total;"


def _max_gradient(form: _Form, to_all: bool = False) -> str:
    """x0: the input, x1: the maxima, x2: their gradient."""
    kind = form.numbers[2]
    output = form.position("o", "out")
    add = f"total = total + x2[{output}];"
    if not to_all:
        earlier = form.over_window(
            f"if ({form.order('s')} < {form.order('t')} && "
            f"x0[{form.position('q', 'size')}] == x1[{output}]) {{\n"
            "is_first = 0;\n}",
            tap="s",
            place="q",
        )
        add = f"int is_first = 1;\n{earlier}\nif (is_first == 1) {{\n{add}\n}}"
    body = form.over_outputs(f"if (x0[i] == x1[{output}]) {{\n{add}\n}}")
    start = f"{kind} total = ({kind})0;\n"
    return f"{form.split('p', 'size')}\n{start}{body}\ny[i] = total;"


def _max_gradient_to_all(form: _Form) -> str:
    return _max_gradient(form, to_all=True)


def _max_gradient_gradient(form: _Form) -> str:
    """x0: the input, x1: the maxima, x2: the gradient of the input's gradient."""
    kind = form.numbers[2]
    body = form.over_window(
        f"if (seen == 0 && x0[{form.position('p', 'size')}] == x1[i]) {{\n"
        f"found = x2[{form.position('p', 'size')}];\nseen = 1;\n}}"
    )
    start = f"{kind} found = ({kind})0;\nint seen = 0;\n"
    return f"{form.split('o', 'out')}\n{start}{body}\ny[i] = found;"


@functools.lru_cache(maxsize=256)
def source_of(write: Callable[[_Form], str], result: str, form: _Form) -> str:
    """A program in CUDA C++.

    Args:
      write: the function above that writes its body.
      result: C's type of the result.
      form: what it is written for.
    """
    names = ["count", "channels"]
    names += [f"{name}{k}" for k in form.axes for name in ("size", "out", "before")]
    parameters = [f"const {n}* x{i}" for i, n in enumerate(form.numbers)]
    parameters += [f"{result}* y", *(f"{form.integer} {name}" for name in names)]
    return _KERNEL.format(
        parameters=", ".join(parameters), index=form.integer, body=write(form)
    )


@functools.lru_cache(maxsize=256)
def _compiled(xp: Any, source: str) -> Any:
    return xp.RawKernel(source, "pool")


def _launch(
    xp: ArrayModule,
    write: Callable[[_Form], str],
    arrays: Sequence[Any],
    shape: tuple[int, ...],
    windows: Windows,
    sizes: tuple[int, ...],
    dtype: Any = None,
) -> Any | None:
    """A result of this shape, [batch, *spatial, channels].

    Args:
      xp: CuPy.
      write: the program.
      arrays: what it reads, with channels last.
      shape: of the result.
      windows: their geometry.
      sizes: the spatial sizes of the input.
      dtype: the result's; None for that of the last array.

    Returns:
      The array; None if the program has no such type.
    """
    kinds = [_NUMBERS.get(array.dtype.name) for array in arrays]
    if None in kinds or any(n != 1 for n in windows.dilations):
        return None
    dtype = arrays[-1].dtype if dtype is None else dtype
    is_short = dtype.itemsize == 2 and dtype.kind in "fV"
    work = np.dtype(np.float32) if is_short else dtype
    leader = arrays[0]
    is_first = not leader.flags.c_contiguous and bool(
        xp.moveaxis(leader, -1, 1).flags.c_contiguous
    )
    read = [_planes(xp, _wide(array), is_first) for array in arrays]
    batch, *spatial, channels = shape
    if is_first:  # each channel is an image of its own
        made = xp.empty((batch, channels, *spatial), work)
        channels = 1
    else:
        made = xp.empty(shape, work)
    if made.size:
        largest = max(made.size, *(array.size for array in read))
        index = "int" if largest < _INT_INDEXED_BELOW else "long long"
        form = _Form(index, tuple(map(str, kinds)), windows.window, windows.strides)
        numbers = [made.size, channels]
        for size, out, (before, _) in zip(
            sizes, windows.out, windows.pads, strict=True
        ):
            numbers += [size, out, before]
        to_index = np.int32 if index == "int" else np.int64
        kernel = _compiled(xp, source_of(write, _NUMBERS[work.name], form))
        blocks = -(-made.size // _THREADS)
        kernel((blocks,), (_THREADS,), (*read, made, *map(to_index, numbers)))
    if is_first:
        made = xp.moveaxis(made, 1, -1)
    return made.astype(dtype) if is_short else made


def _wide(array: Any) -> Any:
    is_short = array.dtype.itemsize == 2 and array.dtype.kind in "fV"
    return array.astype(np.float32) if is_short else array


def _planes(xp: ArrayModule, array: Any, is_first: bool) -> Any:
    return xp.ascontiguousarray(xp.moveaxis(array, -1, 1) if is_first else array)


# ---- the functions of pool_kernels.py and pool.py; None where they compute as before


def maximum(xp: ArrayModule, x: Any, windows: Windows) -> Any | None:
    """The maximum of each window, [batch, *windows.out, channels]."""
    shape = (len(x), *windows.out, x.shape[-1])
    return _launch(xp, _maximum, [x], shape, windows, x.shape[1:-1])


def max_and_where(xp: ArrayModule, x: Any, windows: Windows) -> tuple[Any, Any] | None:
    """The maximum of each window, and its position in the image (int64)."""
    x = xp.ascontiguousarray(x)
    shape, sizes = (len(x), *windows.out, x.shape[-1]), x.shape[1:-1]
    where = _launch(xp, _first_maximum, [x], shape, windows, sizes, np.dtype(np.int64))
    if where is None:
        return None
    first = xp.arange(len(x), dtype="int64").reshape(-1, *(1,) * (x.ndim - 1))
    return x.reshape(-1)[where + first * prod(x.shape[1:])], where


def max_gradient(
    xp: ArrayModule, x: Any, y: Any, grad: Any, windows: Windows, to_all: bool
) -> Any | None:
    """See pool_kernels.max_gradient."""
    write = _max_gradient_to_all if to_all else _max_gradient
    return _launch(xp, write, [x, y, grad], x.shape, windows, x.shape[1:-1])


def max_gradient_gradient(
    xp: ArrayModule, x: Any, y: Any, grad: Any, windows: Windows
) -> Any | None:
    """See pool_kernels.max_gradient_gradient."""
    arrays = [x, y, grad]
    return _launch(xp, _max_gradient_gradient, arrays, y.shape, windows, x.shape[1:-1])


def mean(xp: ArrayModule, x: Any, windows: Windows) -> Any | None:
    """The mean of each window, without the padding."""
    shape = (len(x), *windows.out, x.shape[-1])
    return _launch(xp, _mean, [x], shape, windows, x.shape[1:-1])


def mean_gradient(
    xp: ArrayModule, sizes: tuple[int, ...], grad: Any, windows: Windows
) -> Any | None:
    """The gradient of `mean` by its input, [batch, *sizes, channels]."""
    shape = (len(grad), *sizes, grad.shape[-1])
    return _launch(xp, _mean_gradient, [grad], shape, windows, sizes)
