"""`and`, `or`, `not`, `==` and `!=`.

Source: python/autograph/operators/logical.py (API).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.control.branch import cond
from tfteach.lib.autograph.operators.tensors import is_tensor
from tfteach.ops.math.compare import equal, logical_not


def not_(a: Any) -> Any:
    """`not a`."""
    return logical_not(a) if is_tensor(a) else not a


def and_(a: Callable[[], Any], b: Callable[[], Any]) -> Any:
    """`a() and b()`; over a Tensor a branch, in which `b` is built."""
    first = a()
    if is_tensor(first):
        return cond(first, b, lambda: first)
    return first and b()


def or_(a: Callable[[], Any], b: Callable[[], Any]) -> Any:
    """`a() or b()`; over a Tensor a branch, in which `b` is built."""
    first = a()
    if is_tensor(first):
        return cond(first, lambda: first, b)
    return first or b()


def eq(a: Any, b: Any) -> Any:
    """`a == b`, with a Tensor by value."""
    return equal(a, b) if is_tensor(a) or is_tensor(b) else a == b


def not_eq(a: Any, b: Any) -> Any:
    """`a != b`, with a Tensor by value."""
    return not_(eq(a, b))
