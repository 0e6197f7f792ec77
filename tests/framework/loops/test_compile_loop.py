"""A compiled loop computes what Python computes from the same source."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from tfteach.framework.loops.compile_loop import compile_loop
from tfteach.framework.loops.language import Parameter, UnsupportedSyntaxError

SPECIAL = [0.0, -0.0, np.nan, np.inf, -np.inf, 1.5, -2.5, 1e-40]
NAMES = "sqrt sign maximum minimum float32 float64 int64".split()
NUMPY = {name: getattr(np, name) for name in NAMES} | {"abs": abs}


def with_python(source: str, *arguments: Any) -> Any:
    namespace = dict(NUMPY)
    exec(source, namespace)
    with np.errstate(all="ignore"):
        return namespace["loop"](*arguments)


def parameters_of(arguments: Any) -> list[Parameter]:
    return [
        Parameter(np.asarray(a).dtype, np.ndim(a), is_written=np.ndim(a) > 0)
        for a in arguments
    ]


def same_as_python(source: str, *arguments: Any) -> Any:
    """What the loop returns; arrays are written in place."""
    copies = [np.copy(a) if np.ndim(a) else a for a in arguments]
    wanted = with_python(source, *copies)
    result = compile_loop(source, parameters_of(arguments))(*arguments)
    assert result == wanted
    for ours, theirs in zip(arguments, copies, strict=True):
        np.testing.assert_array_equal(ours, theirs)
        signs = [np.signbit(part) & (part == part) for part in (ours, theirs)]
        np.testing.assert_array_equal(*signs)
    return result


OF_FLOATS = (
    "x + y * 3 - 1 / x",
    "-x * 0.1 + +y",
    "sqrt(abs(x)) / 2.5",
    "sign(x) * sign(y)",
    "maximum(x, y) + 0 - minimum(x, 0)",  # which of two zeros is undefined
    "maximum(2, y)",
    "1 if x > 0 else y",
    "(0 if x <= 0 else x) * (1 if y != x else 0.5)",
    "x if x < y and y < 2 or not x == x else -y",
    "y if (x >= 0) ^ (y >= 0) else x",
    "number(float64(x) * 0.1) + number(n)",
    "number(float32(x)) - number(x < y)",
    "x * (2 if n > 1 else 1)",
)
OF_INTEGERS = (
    "x + y - x * 3",
    "x // y + x % y",
    "x // 4 - x % 4",
    "-x // 3 + ~y",
    "(x & 12) | (y ^ 5)",
    "(x << 3) + (y >> 1)",
    "x * 0x1E3779B97F4A7C15 >> 7",
    "maximum(x, y) - minimum(x, 3)",
    "int64(float64(x) / 2.0)",
    "int64(x > y) + int64(True)",
)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_expressions(dtype: Any) -> None:
    lines = ["def loop(a, b, n, out):", " for i in range(a.size):", "  x = a[i]"]
    lines.append("  y = b[i]")
    for k, value in enumerate(OF_INTEGERS if dtype is np.int64 else OF_FLOATS):
        value = value.replace("number", np.dtype(dtype).name)
        lines.append(f"  out[{k}, i] = {value}")
    if dtype is np.int64:
        x, y = np.meshgrid(np.arange(-7, 8), [-5, -2, -1, 1, 2, 7])
    else:
        x, y = np.meshgrid(SPECIAL, SPECIAL)
    x, y = (part.ravel().astype(dtype) for part in (x, y))
    out = np.zeros((len(OF_FLOATS), x.size), dtype)
    same_as_python("\n".join(lines), x, y, np.int64(3), out)


def test_zero_as_divisor_is_no_crash() -> None:
    source = "def loop(a, n):\n return a.size // n + a.size % n"
    loop = compile_loop(source, parameters_of([np.ones(3), np.int64(0)]))
    assert isinstance(loop(np.ones(3), 0), int)


def test_elements_of_every_type() -> None:
    types = "bool int8 uint8 int16 uint16 int32 uint32 int64".split()
    names = [f"a{i}" for i in range(len(types))]
    lines = [f"def loop({', '.join(names)}):", " for i in range(1, a0.size, 2):"]
    lines += [f"  {name}[i - 1] = {name}[i]" for name in names]
    given = np.array([0, 1, 7, 255, 0, -1, 0, 127, 0, -128, 0, 70000])
    same_as_python("\n".join(lines), *(given.astype(kind) for kind in types))


def test_statements() -> None:
    source = """\
def loop(a, b, limit):
    count = 0
    for i in range(a.shape[0]):
        if a[i, 0] < 0:
            continue
        for j in range(a.shape[1] - 1, -0 + a.shape[1]):
            pass
        j = 0
        while j < a.shape[1] and a[i, j] != 0:
            b[i, j] += a[i, j]
            count += 1
            if count > limit:
                return count
            elif a[i, j] == 7:
                break
            else:
                j += 1
        i = 100
    return -count
"""
    rng = np.random.RandomState(0)
    for seed in range(5):
        a = rng.randint(-1 - seed, 8, (20, 6)).astype(np.float32)
        assert same_as_python(source, a, np.zeros_like(a), np.int64(9)) == 10
        assert same_as_python(source, a, np.zeros_like(a), np.int64(99)) < 0


def test_conditions_read_no_further_than_pythons() -> None:
    source = """\
def loop(a, n):
    i = 0
    while i < n and (a[i] > 0 or i == 0):
        i += 1
    return i if i >= n else int64(a[i] if i < n else 1) * 0 + i
"""
    assert same_as_python(source, np.ones(4), np.int64(4)) == 4
    assert same_as_python(source, np.array([0, 3.0, 0]), np.int64(3)) == 2


def test_arguments() -> None:
    source = """\
def loop(a, flag, n, x, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = (a[j] if flag else x) * float64(n)
"""
    f64 = np.dtype(np.float64)
    parameters = [
        Parameter(f64),
        Parameter(np.dtype(bool), 0),
        Parameter(np.dtype(np.int64), 0),
        Parameter(f64, 0),
        Parameter(f64, 2, is_written=True),
    ]
    loop = compile_loop(source, parameters)
    a, out = np.array([1.0, 2.0]), np.empty((3, 2))
    a.flags.writeable = False
    assert loop(a, True, 3, np.float32(7), out) is None
    assert out.tolist() == [[3, 6]] * 3
    assert loop(a, np.False_, np.int64(-1), -1, out) is None
    assert out.tolist() == [[1, 1]] * 3
    wrong: list[tuple[int, Any, str]] = [
        (0, a.tolist(), "expects the arguments"),
        (0, a.astype(np.float32), "C-contiguous float64 array of rank 1"),
        (0, a.astype(">f8"), "expects the arguments"),
        (0, a.view(np.int64), "expects the arguments"),
        (0, np.ones((2, 2)), "expects the arguments"),
        (0, np.ones(4)[::2], "expects the arguments"),
        (0, np.ma.ones(2), "expects the arguments"),
        (2, 2.5, "integer"),
        (3, "x", "real number"),
        (4, np.empty((2, 3)).T, "writable C-contiguous float64 array of rank 2"),
        (4, np.broadcast_to(a, (3, 2)), "expects the arguments"),
    ]
    for position, bad, message in wrong:
        given: list[Any] = [a, True, 3, 7.0, out]
        given[position] = bad
        with pytest.raises(TypeError, match=message):
            loop(*given)
    with pytest.raises(TypeError, match="expects the arguments"):
        loop(a, True, 3, 7.0)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a[0] = n", "'a\\[0\\]': the array is float, the value i64"),
        ("a[0] = a[0] * n", "mixes float and i64"),
        ("a[0] = float64(a[0])", "the array is float, the value double"),
        ("a[0] = unknown", "'unknown': unknown name"),
        ("a[0] = exp(a[0])", "unknown name, or no supported expression"),
        ("a[0] = a[0, 0]", "the array's rank is 1"),
        ("a[0] = sqrt(n)", "of floats only"),
        ("a[0] = maximum(a[0])", "wrong number of arguments"),
        ("a[0] = 1 if n else 2", "'n': a condition must be a bool"),
        ("a[a[0]] = 1", "must be an int, is float"),
        ("n = n / 2", "no such operator for i64"),
        ("n = 1 < n < 2", "no supported expression"),
        ("n = not n", "no such operator for i64"),
        ("n = 0.5", "n is i64, the value double"),
        ("a = n", "'a': cannot be assigned to"),
        ("a[:] = 0", "no supported expression"),
        ("print(n)", "not a supported statement"),
        ("break", "not a supported statement"),
        ("for i in range(9, 0, -1):\n  pass", "the step must be a literal above 0"),
        ("return a[0]", "only an int can be returned"),
    ],
)
def test_what_is_not_supported(line: str, message: str) -> None:
    source = f"def loop(a, n):\n {line}"
    parameters = [Parameter(np.dtype(np.float32), 1, True)]
    parameters.append(Parameter(np.dtype(np.int64), 0))
    with pytest.raises(UnsupportedSyntaxError, match=message):
        compile_loop(source, parameters)


def test_types_that_loops_do_not_have() -> None:
    for dtype in (np.float16, np.complex64, ">f4", object):
        with pytest.raises(TypeError, match="Loops have no type"):
            compile_loop("def loop(a):\n pass", [Parameter(np.dtype(dtype))])
