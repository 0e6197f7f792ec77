"""Kernels for cards, computed by NumPy under another name."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.special

from tests.ops.case import Case, all_cases
from tfteach.engine.plan.step import kernel_of
from tfteach.framework.card_kernels import is_on_host, with_card_kernel
from tfteach.framework.op import StatefulOp
from tfteach.ops.array.row_access import take_rows
from tfteach.ops.state.scatter_ops import update_rows


class Card(ModuleType):
    """An array module that is not NumPy, although its functions are."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


CARD = Card("card")


@pytest.fixture(autouse=True)
def special_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    """SciPy's special functions where CuPy has its own."""
    scipy_of_card = SimpleNamespace(special=scipy.special)
    monkeypatch.setitem(sys.modules, "cupyx", SimpleNamespace(scipy=scipy_of_card))
    monkeypatch.setitem(sys.modules, "cupyx.scipy", scipy_of_card)


def test_a_function_with_a_card_kernel() -> None:
    @with_card_kernel(lambda xp, value: ("card", value))
    def where(xp: Any, value: int) -> tuple[str, int]:
        return "host", value

    assert (where(np, 1), where(CARD, 2)) == (("host", 1), ("card", 2))
    assert is_on_host(np)
    assert not is_on_host(CARD)


@pytest.mark.parametrize(
    "how", "set add subtract multiply divide minimum maximum".split()
)
@pytest.mark.parametrize("ids", [[4, 0, 2], [1, 3, 1, 1]], ids=["distinct", "equal"])
def test_scatters_change_the_same_rows_on_cards(how: str, ids: list[int]) -> None:
    rows = np.arange(2.0, 2 + 2 * len(ids)).reshape(-1, 2)
    targets = [np.ones([5, 2]), np.ones([5, 2])]
    for xp, target in zip((np, CARD), targets, strict=True):
        update_rows(xp, how, target, np.array(ids), rows)
    np.testing.assert_allclose(*targets)
    taken = [take_rows(xp, targets[0], np.array(ids)) for xp in (np, CARD)]
    np.testing.assert_array_equal(*taken)


def outputs(case: Case, xp: Any) -> list[Any] | None:
    """The outputs of the case's kernel; None if it refuses its inputs."""
    try:
        with np.errstate(all="ignore"):
            found = kernel_of(case.op, xp)(*case.flat)
    except Exception:
        return None
    return list(found) if isinstance(found, tuple | list) else [found]


def test_ops_compute_the_same_on_cards() -> None:
    differing = []
    for case in all_cases():
        if isinstance(case.op, StatefulOp) or has_nan_or_strings(case):
            continue
        expected = outputs(case, np)
        if expected is not None and not are_same(outputs(case, CARD), expected):
            differing.append(str(case))
    assert not differing


def are_same(got: list[Any] | None, expected: list[Any]) -> bool:
    if got is None or len(got) != len(expected):
        return False
    for value, right in zip(
        map(np.asarray, got), map(np.asarray, expected), strict=True
    ):
        if value.dtype != right.dtype or value.shape != right.shape:
            return False
        if value.dtype.kind in "fcV":
            wide = np.complex128 if value.dtype.kind == "c" else np.float64
            pair = value.astype(wide), right.astype(wide)
            if not np.allclose(*pair, 1e-4, 1e-4, equal_nan=True):
                return False
        elif not np.array_equal(value, right):
            return False
    return True


def has_nan_or_strings(case: Case) -> bool:
    """Cards follow TensorFlow's GPU kernels for NaN, and have no strings."""
    return any(
        a.dtype == object or (a.dtype.kind in "fc" and np.isnan(a).any())
        for a in case.flat
    )
