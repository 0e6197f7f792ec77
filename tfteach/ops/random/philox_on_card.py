"""TensorFlow's random numbers by kernels of a card: those of philox.py, which see.

The host knows where a stream stands, and hands that over; a thread of the card draws
the numbers of a group, as many as one block of the generator makes.  Uniform numbers
and integers are those of the CPU; normal ones differ by what CUDA's logarithm and sine
differ from the C library's, a few units in the last place.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfteach.framework.type_aliases import ArrayModule
from tfteach.ops.random.philox import RESERVED_BLOCKS, Philox

_THREADS = 256  # in a block of the card's
_MASK64 = (1 << 64) - 1

_KERNEL = """\
extern "C" __global__ void {name}(
    const unsigned long long* state, {type}* out, long long count) {{
  long long group = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  long long first = group * {size};
  if (first < count) {{
{body}
  }}
}}
"""
# The words x0 to x3 of the generator's block `offset`.
_BLOCK = """\
unsigned long long low = state[0] + offset;
unsigned long long high = state[1];
if (low < offset) {
  high = high + 1ull;
}
unsigned int x0 = (unsigned int)low;
unsigned int x1 = (unsigned int)(low >> 32);
unsigned int x2 = (unsigned int)high;
unsigned int x3 = (unsigned int)(high >> 32);
unsigned int key0 = (unsigned int)state[2];
unsigned int key1 = (unsigned int)(state[2] >> 32);
for (int round = 0; round < 10; ++round) {
  unsigned long long product0 = 0xD2511F53ull * x0;
  unsigned long long product1 = 0xCD9E8D57ull * x2;
  x0 = (unsigned int)(product1 >> 32) ^ x1 ^ key0;
  x1 = (unsigned int)product1;
  x2 = (unsigned int)(product0 >> 32) ^ x3 ^ key1;
  x3 = (unsigned int)product0;
  key0 = key0 + 0x9E3779B9u;
  key1 = key1 + 0xBB67AE85u;
}
"""
_OFFSET = "unsigned long long offset = (unsigned long long)group;\n"
_STORE = """\
if (first + {i} < count) {{
  out[first + {i}] = {value};
}}
"""
# A group of truncated numbers has blocks of its own, of which it rarely needs two.
_TRUNCATED = """\
unsigned long long offset = (unsigned long long)group * {step}ull;
int filled = 0;
while (filled < {size}) {{
{body}
  offset = offset + 1ull;
}}
"""
_ACCEPT = """\
if (filled < {size} && {value} > -2 && {value} < 2) {{
  if (first + filled < count) {{
    out[first + filled] = {value};
  }}
  filled = filled + 1;
}}
"""


def _indented(text: str, levels: int) -> str:
    return "\n".join("  " * levels + line for line in text.splitlines())


def _uniform_double(high: str, low: str) -> str:
    bits = f"((unsigned long long)({high} & 0xFFFFFu) << 32 | {low})"
    return f"(double){bits} * {2.0**-52!r}"


def _uniform_float(word: str, bits: int) -> str:
    return f"(float)({word} & {(1 << bits) - 1}u) * {2.0**-bits!r}f"


def _normal_pair(number: int, radius: str, angle: str, kind: str) -> str:
    """Statements for two normal numbers from two uniform ones (Box-Muller)."""
    f = "f" if kind == "float" else ""
    lines = [
        f"{kind} u{number} = {radius};",
        f"u{number} = u{number} < 1.0e-07{f} ? 1.0e-07{f} : u{number};",
        f"{kind} radius{number} = sqrt{f}(-2.0{f} * log{f}(u{number}));",
        f"{kind} angle{number} = ({kind})({2 * math.pi!r} * (double)({angle}));",
        f"{kind} n{number} = sin{f}(angle{number}) * radius{number};",
        f"{kind} n{number + 1} = cos{f}(angle{number}) * radius{number};",
    ]
    return "\n".join(lines) + "\n"


def _normal_words(kind: str) -> tuple[str, int]:
    """Statements for the normal numbers n0, n1 ... of a block, and their count."""
    if kind == "double":
        u0, u1 = _uniform_double("x0", "x1"), _uniform_double("x2", "x3")
        return _normal_pair(0, u0, u1, kind), 2
    u = [_uniform_float(f"x{i}", 23) for i in range(4)]
    return _normal_pair(0, u[0], u[1], kind) + _normal_pair(2, u[2], u[3], kind), 4


def _written(kind: str, values: Sequence[str], statements: str = "") -> str:
    """The kernel that stores these values of a block."""
    body = _OFFSET + _BLOCK + statements
    for i, value in enumerate(values):
        body += _STORE.format(i=i, value=value)
    return _KERNEL.format(
        name="draw", type=kind, size=len(values), body=_indented(body, 2)
    )


def _uniform(dtype: np.dtype[Any]) -> str:
    if dtype == np.float64:
        pairs = _uniform_double("x0", "x1"), _uniform_double("x2", "x3")
        return _written("double", pairs)
    bits = {"float32": 23, "float16": 10, "bfloat16": 7}[dtype.name]
    return _written("float", [_uniform_float(f"x{i}", bits) for i in range(4)])


def _normal(dtype: np.dtype[Any]) -> str:
    kind = "double" if dtype == np.float64 else "float"
    statements, size = _normal_words(kind)
    return _written(kind, [f"n{i}" for i in range(size)], statements)


def _truncated_normal(dtype: np.dtype[Any]) -> str:
    kind = "double" if dtype == np.float64 else "float"
    statements, size = _normal_words(kind)
    body = _BLOCK + statements
    for i in range(size):
        body += _ACCEPT.format(size=size, value=f"n{i}")
    loop = _TRUNCATED.format(
        step=size * RESERVED_BLOCKS // 4, size=size, body=_indented(body, 1)
    )
    return _KERNEL.format(name="draw", type=kind, size=size, body=_indented(loop, 2))


def _integers(dtype: np.dtype[Any]) -> str:
    if dtype == np.int32:
        kind, unsigned = "int", "unsigned int"
        words = ["x0", "x1", "x2", "x3"]
    else:
        kind, unsigned = "long long", "unsigned long long"
        words = [f"((unsigned long long)x{i + 1} << 32 | x{i})" for i in (0, 2)]
    least, span = f"({unsigned})state[3]", f"({unsigned})state[4]"
    return _written(kind, [f"({kind})({word} % {span} + {least})" for word in words])


_SOURCES: dict[str, Callable[[np.dtype[Any]], str]] = {
    "uniform": _uniform,
    "normal": _normal,
    "truncated_normal": _truncated_normal,
    "integers": _integers,
}


@functools.lru_cache(maxsize=64)
def source_of(distribution: str, dtype: np.dtype[Any]) -> str:
    """The kernel of a distribution in CUDA C++.

    Args:
      distribution: "uniform", "normal", "truncated_normal" or "integers".
      dtype: of the numbers.
    """
    return _SOURCES[distribution](dtype)


@functools.lru_cache(maxsize=64)
def _compiled(xp: Any, source: str) -> Any:
    return xp.RawKernel(source, "draw")


def state_of(generator: Philox, low: int = 0, high: int = 0) -> np.ndarray[Any, Any]:
    """What a kernel has to know of the host: uint64 [5].

    Args:
      generator: where the run's numbers begin.
      low, high: the bounds of integers.
    """
    counter, key = generator.counter, generator.key
    words = counter, counter >> 64, key[0] | key[1] << 32, low, high - low
    return np.array([word & _MASK64 for word in words], np.uint64)


def draw(
    xp: ArrayModule,
    distribution: str,
    sizes: Sequence[int],
    dtype: np.dtype[Any],
    state: Any,
) -> Any:
    """Numbers on the card.

    Args:
      xp: its array module.
      distribution: as for `source_of`.
      sizes: their shape.
      dtype: their type.
      state: of `state_of`, on the host or on the card.
    """
    is_small = dtype.itemsize == 2
    numbers: Any = xp.empty(tuple(sizes), np.float32 if is_small else dtype)
    count = math.prod(sizes)
    if count:
        source = source_of(distribution, dtype)
        groups = -(-count // (16 // numbers.itemsize))
        blocks = -(-groups // _THREADS)
        arguments = xp.asarray(state), numbers, np.int64(count)
        _compiled(xp, source)((blocks,), (_THREADS,), arguments)
    return numbers.astype(dtype) if is_small else numbers
