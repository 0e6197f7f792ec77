"""Kernels for cards, computed by a stand-in with CuPy's rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests import strict_card
from tests.card_arrays import Array, to_card, to_host
from tests.ops.case import Case, all_cases, node_of
from tests.ops.test_all import constants, runs_on_cards
from tests.strict_card import CARD
from tfteach.engine.plan.step import kernel_of
from tfteach.framework.card_kernels import is_on_host, with_card_kernel
from tfteach.framework.dtypes import float16, float32
from tfteach.framework.graph import Graph
from tfteach.ops.array.gather import Gather
from tfteach.ops.array.segment_kernels import reduce_rows
from tfteach.ops.array.segment_ops import UnsortedSegmentMax, UnsortedSegmentSum
from tfteach.ops.nn.cross_entropy import SparseSoftmaxCrossEntropyWithLogits
from tfteach.ops.state.row_updates import update_rows
from tfteach.ops.training.update_formula import UpdateFormula


@pytest.fixture(autouse=True)
def card(monkeypatch: pytest.MonkeyPatch) -> None:
    strict_card.install(monkeypatch)


def test_a_function_with_a_card_kernel() -> None:
    @with_card_kernel(lambda xp, value: ("card", value))
    def where(xp: Any, value: int) -> tuple[str, int]:
        return "host", value

    assert (where(np, 1), where(CARD, 2)) == (("host", 1), ("card", 2))
    assert is_on_host(np)
    assert not is_on_host(CARD)


HOWS = "set add subtract multiply divide minimum maximum".split()


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("ids", [[4, 0, 2], [1, 3, 1, 1]], ids=["distinct", "equal"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int64"])
def test_scatters_change_the_same_rows_on_cards(
    how: str, ids: list[int], dtype: str
) -> None:
    rows = np.arange(2, 2 + 2 * len(ids)).reshape(-1, 2).astype(dtype)
    target = np.full([5, 2], 60, dtype)
    on_card = to_card(target)
    update_rows(np, how, target, np.array(ids), rows)
    update_rows(CARD, how, on_card, to_card(ids), to_card(rows))
    np.testing.assert_allclose(to_host(on_card), target, 1e-3)


@pytest.mark.parametrize("how", HOWS)
def test_scatters_ignore_rows_outside_on_cards(how: str) -> None:
    target = to_card(np.full([3, 2], 7.0, np.float32))
    rows = to_card(np.full([2, 2], 9.0, np.float32))
    update_rows(CARD, how, target, to_card(np.array([-1, 3])), rows)
    assert to_host(target).tolist() == [[7.0, 7.0]] * 3


def test_gathers_on_cards_return_zeros_outside() -> None:
    """Without waiting, which a check would need."""
    waits = strict_card.POOL.waits
    params = to_card(np.arange(6.0).reshape(3, 2))
    found = kernel_of(Gather(), CARD)(params, to_card(np.array([2, -1, 3, 0])))
    assert strict_card.POOL.waits == waits
    assert to_host(found).tolist() == [[4.0, 5.0], [0.0, 0.0], [0.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(("kind", "right"), [
    (UnsortedSegmentSum, [[4.0, 6.0], [0.0, 0.0]]),
    (UnsortedSegmentMax, [[3.0, 4.0], [-np.inf, -np.inf]]),
])  # fmt: skip
def test_segments_ignore_rows_outside_on_cards(kind: Any, right: Any) -> None:
    waits = strict_card.POOL.waits
    data = to_card(np.arange(1.0, 9.0).reshape(4, 2))
    ids = to_card(np.array([0, 0, -1, 2]))
    found = kernel_of(kind(), CARD)(data, ids, np.int32(2))
    assert strict_card.POOL.waits == waits
    lowest = np.finfo(np.float64).min
    assert to_host(found).tolist() == np.maximum(right, lowest).tolist()
    with pytest.raises(tf.errors.InvalidArgumentError, match="-1 must not be negative"):
        kernel_of(kind(), CARD)(data, ids, np.int32(-1))


def test_an_update_rule_has_functions_for_each_module() -> None:
    formula = UpdateFormula("var -= alpha * grad", ("var",), ("alpha",))
    on_host, on_card = formula.functions(np), formula.functions(CARD)
    arrays = [np.ones(3), np.arange(3.0), *np.empty((formula.temporaries, 3))]
    cards = [to_card(array) for array in arrays]
    on_host.update(*arrays[:2], 0.5, *arrays[2:])
    on_card.update(*cards[:2], 0.5, *cards[2:])
    assert arrays[0].tolist() == to_host(cards[0]).tolist() == [1.0, 0.5, 0.0]


def outputs(case: Case) -> tuple[list[Any], list[Any]] | None:
    """What the kernel computes on the host and on a card; None if it refuses."""
    op = type(case.op)
    try:
        with np.errstate(all="ignore"):
            expected = kernel_of(case.op, np)(*case.flat)
    except Exception:
        return None
    inputs = [a if name in op.host_inputs else to_card(a) for name, a in case.named]
    with np.errstate(all="ignore"):
        found = kernel_of(case.op, CARD)(*inputs)
    return _listed(found), _listed(expected)


def _listed(found: Any) -> list[Any]:
    return list(found) if isinstance(found, tuple | list) else [found]


@pytest.mark.parametrize("case", [c for c in all_cases() if runs_on_cards(c)], ids=str)
def test_ops_compute_the_same_on_cards(case: Case) -> None:
    """With CuPy's functions alone; what they return is on the card."""
    found = outputs(case)
    if found is None:
        return
    op = type(case.op)
    is_on_card = not (op.host_on_gpu or op.host_types_on_gpu or op.only_metadata)
    for got, right in zip(*found, strict=True):
        assert isinstance(got, Array) or not is_on_card or op.int32_on_gpu == "host"
        if not has_nan(case):
            assert are_same(to_host(got), right)


def in_float16(case: Case) -> Case | None:
    """The case with float16 in place of float32; None if the op does not have it."""
    op = case.op
    changes = {n: float16 for n in type(op).fields if getattr(op, n) is float32}

    def narrowed(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [narrowed(part) for part in value]
        value = np.asarray(value)
        return value.astype(np.float16) if value.dtype == np.float32 else value

    try:
        found = Case(
            op.replace(**changes) if changes else op,
            tuple(map(narrowed, case.inputs)),
            case.expect,
            case.id,
        )
        with Graph().as_default():
            node_of(found, constants(found))
    except (TypeError, ValueError):
        return None
    return found


HALVES = [
    found
    for case in all_cases()
    if runs_on_cards(case) and any(a.dtype == np.float32 for a in case.flat)
    if (found := in_float16(case)) is not None
]


HALVES_BY_TYPE = {
    kind: [case for case in HALVES if case.op.op_type[0] in letters]
    for kind, letters in {"A-L": "ABCDEFGHIJKL", "M-Z": "MNOPQRSTUVWXYZ"}.items()
}


@pytest.mark.parametrize("kind", HALVES_BY_TYPE)
def test_ops_compute_the_same_in_float16(kind: str) -> None:
    """Except for the last digit: sums have other parts."""
    refused = 0
    for case in HALVES_BY_TYPE[kind]:
        try:
            refused += not is_same_in_float16(case)
        except Exception as error:
            raise AssertionError(f"{case}: {error}") from error
    assert refused < len(HALVES_BY_TYPE[kind]) // 10


def is_same_in_float16(case: Case) -> bool:
    """Compare; returns whether the kernel computes with float16 at all."""
    found = outputs(case)
    if found is None:
        return False
    for got, right in zip(*found, strict=True):
        host, expected = to_host(got), np.asarray(right)
        assert (host.dtype, host.shape) == (expected.dtype, expected.shape)
        if host.dtype.kind == "f":
            np.testing.assert_allclose(
                host.astype(float), expected.astype(float), 4e-3, 4e-3
            )
        else:
            np.testing.assert_array_equal(host, expected)
    return True


ATOMIC_TYPES = "float16 float32 float64 int8 uint8 int16 uint16 int32 int64".split()


@pytest.mark.parametrize("ufunc", ["add", "maximum", "minimum"])
@pytest.mark.parametrize("dtype", ATOMIC_TYPES)
def test_segments_in_types_without_atomic_functions(dtype: str, ufunc: str) -> None:
    limits = np.iinfo(dtype) if dtype[0] in "iu" else np.finfo(dtype)
    data = np.array([[1, limits.max], [limits.min, 3], [2, limits.min]], dtype)
    ids = np.array([2, 0, 2])
    start = {"add": 0, "maximum": limits.min, "minimum": limits.max}[ufunc]
    right = reduce_rows(np, ufunc, data, ids, 3, start)
    found = reduce_rows(CARD, ufunc, to_card(data), to_card(ids), 3, start)
    assert found.dtype == right.dtype
    np.testing.assert_array_equal(to_host(found), right)


def are_same(got: Any, right: Any) -> bool:
    right = np.asarray(right)
    if got.dtype != right.dtype or got.shape != right.shape:
        return False
    if got.dtype.kind not in "fcV":
        return np.array_equal(got, right)
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    return np.allclose(got.astype(wide), right.astype(wide), 1e-4, 1e-4, equal_nan=True)


def has_nan(case: Case) -> bool:
    """Cards follow TensorFlow's GPU kernels for NaN."""
    return any(a.dtype.kind in "fc" and np.isnan(a).any() for a in case.flat)


def test_rows_with_invalid_labels_are_nan_on_cards_and_no_others() -> None:
    logits = np.resize(np.float32([0.5, 1.5, -2.0, 3.0]), (4, 3))
    op = SparseSoftmaxCrossEntropyWithLogits()
    labels = np.array([0, 3, 2, -1])
    on_card = op.compute_on_card(CARD, to_card(logits), to_card(labels))
    right = op.compute(np, logits[::2], labels[::2])
    for found, expected in zip(map(to_host, on_card), right, strict=True):
        np.testing.assert_allclose(found[::2], expected, 1e-6)
        assert np.isnan(found[1::2]).all()
