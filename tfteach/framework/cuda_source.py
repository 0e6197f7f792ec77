"""Formulas for one element as source of CUDA C++, for kernels that CuPy compiles.

The formulas are Python expressions, as for loops (loops/language.py), which may also
call functions of CUDA's mathematics: exp, log, tanh, pow, erf and the like.
"""

from __future__ import annotations

import ast
import functools
from typing import Any

import numpy as np

# NumPy's names of types -> C++'s.  CuPy defines float16, a float in two bytes.
C_TYPES = {
    "bool": "bool",
    "uint8": "unsigned char",
    "int8": "signed char",
    "int16": "short",
    "int32": "int",
    "int64": "long long",
    "float16": "float16",
    "float32": "float",
    "float64": "double",
}
_FLOATS = frozenset({"float16", "float32", "float64"})
# Functions whose names differ in Python's formulas; all others are CUDA's.
_RENAMED = {"abs": "fabs", "power": "pow"}
_FUNCTIONS = frozenset(
    "exp expm1 log log1p sqrt fabs sin cos tan asin acos atan sinh cosh tanh asinh "
    "acosh atanh atan2 erf erfc lgamma floor ceil rint pow isnan isinf isfinite".split()
)
_BINARY: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.BitAnd: "&",
    ast.BitOr: "|",
}
_COMPARED: dict[type[ast.AST], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}


def number_type(dtype: np.dtype[Any]) -> str | None:
    """The type in which a kernel computes with floats of this type; None for others."""
    if dtype.name not in _FLOATS:
        return None
    return "double" if dtype.name == "float64" else "float"


@functools.lru_cache(maxsize=4096)
def cuda_expression(formula: str, kind: str) -> str | None:
    """The formula in C++.

    Args:
      formula: an expression of names and numbers.
      kind: the type of its numbers, "float" or "double".

    Returns:
      Source; None if the formula has something that is not supported.

    Example:
      >>> cuda_expression("(0 if x <= 0 else x)", "float")
      '((x <= 0.0f) ? 0.0f : x)'
    """
    try:
        return _written(ast.parse(formula, mode="eval").body, kind)
    except KeyError:
        return None


def _written(node: ast.expr, kind: str) -> str:
    """Raises KeyError: not supported."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Constant(value=bool() as value):
            return str(value).lower()
        case ast.Constant(value=int() | float() as value):
            return f"{float(value)!r}{'f' if kind == 'float' else ''}"
        case ast.BinOp(left=left, op=op, right=right):
            sign = _BINARY[type(op)]
            return f"({_written(left, kind)} {sign} {_written(right, kind)})"
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return f"(-{_written(operand, kind)})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return f"(!{_written(operand, kind)})"
        case ast.Compare(left=left, ops=[comparison], comparators=[right]):
            sign = _COMPARED[type(comparison)]
            return f"({_written(left, kind)} {sign} {_written(right, kind)})"
        case ast.BoolOp(op=op, values=values):
            sign = " && " if isinstance(op, ast.And) else " || "
            return f"({sign.join(_written(value, kind) for value in values)})"
        case ast.IfExp(test=test, body=body, orelse=other):
            yes, no = _written(body, kind), _written(other, kind)
            return f"({_written(test, kind)} ? {yes} : {no})"
        case ast.Call(func=ast.Name(id=name), args=given):
            return _called(name, [_written(value, kind) for value in given])
    raise KeyError(ast.unparse(node))


def _called(name: str, given: list[str]) -> str:
    if name in ("maximum", "minimum"):  # NaN, if one of them is
        x, y = given
        sign = ">=" if name == "maximum" else "<="
        return f"((({x} {sign} {y}) || ({x} != {x})) ? {x} : {y})"
    if name == "sign":
        [x] = given
        return f"(({x} > 0) ? 1 : (({x} < 0) ? -1 : {x}))"
    name = _RENAMED.get(name, name)
    if name not in _FUNCTIONS:
        raise KeyError(name)
    return f"{name}({', '.join(given)})"
