"""Translates loops over arrays, written as Python functions, for the compiler LLVM.

    def loop(a, b, out):
        for i in range(out.size):
            out[i] = sqrt(a[i] * a[i] + b[i]) if a[i] > 0 else 0

Supported are assignments, `for ... in range(...)`, while, if, break, continue, return
of an int, the operators (`and`, `or` and `... if ... else ...` short-circuit), elements
of arrays, their `size` and `shape[k]`, and the functions sqrt, abs, sign, maximum,
minimum, float32, float64 and int64.  Types are bool, int64, float32 and float64.  They
are never mixed, except that a literal has the type of its other operand, as in NumPy.
Smaller integers are int64 outside of arrays.

Each operation rounds as NumPy's does; which of two unlike zeros is their maximum is
undefined.  Integers wrap around, x // 0 and x % 0 are undefined numbers, and indices
are not checked: they may be neither negative nor too large.
"""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

import numpy as np


class Parameter(NamedTuple):
    """Argument of a loop: a number, or a C-contiguous array."""

    dtype: np.dtype[Any]
    rank: int = 1  # 0 for a number
    is_written: bool = False


class UnsupportedSyntaxError(Exception):
    """The loop's source has something that is not supported."""

    def __init__(self, node: ast.AST, reason: str) -> None:
        super().__init__(f"{ast.unparse(node)!r}: {reason}")


class Value(NamedTuple):
    """A value: LLVM's type, and a register or literal."""

    type: str
    text: str


class Array(NamedTuple):
    """An array: where its elements are, and its shape, as registers."""

    dtype: np.dtype[Any]
    data: str
    shape: tuple[str, ...]


FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
SUFFIXES = {"float": "f32", "double": "f64"}  # of LLVM's types, in names of functions
CASTS = {"float32": "float", "float64": "double", "int64": "i64"}
INTRINSICS = {"sqrt": "sqrt", "abs": "fabs"}
EXTREMES: dict[str, type[ast.cmpop]] = {"maximum": ast.GtE, "minimum": ast.LtE}
FUNCTIONS = (*INTRINSICS, *EXTREMES, *CASTS, "sign")

# NumPy's kind and size -> the type in memory, and that of a value.
_TYPES = {"b1": ("i8", "i1"), "f4": ("float", "float"), "f8": ("double", "double")}
_TYPES |= {f"{kind}{n}": (f"i{8 * n}", "i64") for n in (1, 2, 4, 8) for kind in "iu"}


def types_of(dtype: np.dtype[Any]) -> tuple[str, str]:
    """LLVM's types of an array's element in memory, and of its value."""
    found = _TYPES.get(f"{dtype.kind}{dtype.itemsize}")
    if found is None or not dtype.isnative:
        raise TypeError(f"Loops have no type {dtype}")
    return found
