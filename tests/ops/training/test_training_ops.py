"""The update ops against the formulas, element by element in plain Python."""

from __future__ import annotations

from math import exp, sqrt
from typing import Any

import numpy as np
import pytest

from tests.ops.case import PlainContext
from tfteach.framework.dtypes import float64
from tfteach.framework.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
)
from tfteach.framework.op import OPS, Op
from tfteach.framework.variable_cell import Cell
from tfteach.ops.training import (
    training_ops,
    update_rules,
)

LR, RHO, MU, EPS = 0.1, 0.9, 0.5, 1e-3
P1, P2, B1, B2 = 0.9, 0.99, 0.9, 0.99


def sgd(w, g):
    return [w - LR * g]


def momentum(w, a, g):
    a = MU * a + g
    return [w - LR * a, a]


def nesterov(w, a, g):
    a = MU * a + g
    return [w - LR * (g + MU * a), a]


def adagrad(w, a, g):
    a = a + g * g
    return [w - LR * g / sqrt(a), a]


def frozen_adagrad(w, a, g):
    return [w - LR * g / sqrt(a), a]


def rms(w, s, m, g):
    s = RHO * s + (1 - RHO) * g * g
    m = MU * m + LR * g / sqrt(s + EPS)
    return [w - m, s, m]


def centered(w, c, s, m, g):
    s = RHO * s + (1 - RHO) * g * g
    c = RHO * c + (1 - RHO) * g
    m = MU * m + LR * g / sqrt(s - c * c + EPS)
    return [w - m, c, s, m]


def adam(w, m, v, g):
    m = B1 * m + (1 - B1) * g
    v = B2 * v + (1 - B2) * g * g
    rate = LR * sqrt(1 - P2) / (1 - P1)
    return [w - rate * m / (sqrt(v) + EPS), m, v]


def nesterov_adam(w, m, v, g):
    _, m, v = adam(w, m, v, g)
    rate = LR * sqrt(1 - P2) / (1 - P1)
    return [w - rate * ((1 - B1) * g + B1 * m) / (sqrt(v) + EPS), m, v]


L1, L2, L2S, POWER, STEPS, ALPHA = 0.05, 0.2, 0.3, -0.4, 3, 1.5


def sign(x):
    return (x > 0) - (x < 0)


def shrunk(x, by):
    return sign(x) * max(abs(x) - by, 0)


def adadelta(w, a, u, g):
    a = RHO * a + (1 - RHO) * g * g
    d = sqrt(u + EPS) / sqrt(a + EPS) * g
    return [w - LR * d, a, RHO * u + (1 - RHO) * d * d]


def adagrad_v2(w, a, g):
    a = a + g * g
    return [w - LR * g / (sqrt(a) + EPS), a]


def ada_max(w, m, v, g):
    m = B1 * m + (1 - B1) * g
    v = max(B2 * v, abs(g))
    return [w - LR / (1 - P1) * m / (v + EPS), m, v]


def amsgrad(w, m, v, h, g):
    m = B1 * m + (1 - B1) * g
    v = B2 * v + (1 - B2) * g * g
    h = max(h, v)
    rate = LR * sqrt(1 - P2) / (1 - P1)
    return [w - rate * m / (sqrt(h) + EPS), m, v, h]


def keras(w, a, g):
    a = MU * a - LR * g
    return [w + a, a]


def keras_nesterov(w, a, g):
    a = MU * a - LR * g
    return [w + MU * a - LR * g, a]


def add_sign(w, m, g):
    m = B1 * m + (1 - B1) * g
    return [w - LR * (ALPHA + MU * sign(g) * sign(m)) * g, m]


def power_sign(w, m, g):
    m = B1 * m + (1 - B1) * g
    return [w - LR * exp(ALPHA * MU * sign(g) * sign(m)) * g, m]


def proximal_sgd(w, g):
    return [shrunk(w - LR * g, LR * L1) / (1 + LR * L2)]


def proximal_adagrad(w, a, g):
    a = a + g * g
    r = LR / sqrt(a)
    return [shrunk(w - r * g, r * L1) / (1 + r * L2), a]


def dual(w, t, s, g):
    t, s = t + g, s + g * g
    return [-LR * shrunk(t, L1 * STEPS) / (L2 * STEPS * LR + sqrt(s)), t, s]


def ftrl(w, n, z, g, more=0.0):
    new = n + g * g
    z = z + g + more * w - (new**-POWER - n**-POWER) / LR * w
    return [-shrunk(z, L1) / (new**-POWER / LR + 2 * L2), new, z]


def ftrl_v2(w, n, z, g):
    return ftrl(w, n, z, g, 2 * L2S)


# (op type after "Apply", attributes, formula, scalars before grad, scalars after it)
RULES: list[tuple[str, dict[str, Any], Any, list[float], list[float]]] = [
    ("GradientDescent", {}, sgd, [LR], []),
    ("Momentum", {}, momentum, [LR], [MU]),
    ("Momentum", {"use_nesterov": True}, nesterov, [LR], [MU]),
    ("Adagrad", {}, adagrad, [LR], []),
    ("Adagrad", {"update_slots": False}, frozen_adagrad, [LR], []),
    ("RMSProp", {}, rms, [LR, RHO, MU, EPS], []),
    ("CenteredRMSProp", {}, centered, [LR, RHO, MU, EPS], []),
    ("Adam", {}, adam, [P1, P2, LR, B1, B2, EPS], []),
    ("Adam", {"use_nesterov": True}, nesterov_adam, [P1, P2, LR, B1, B2, EPS], []),
    ("Adadelta", {}, adadelta, [LR, RHO, EPS], []),
    ("AdagradV2", {}, adagrad_v2, [LR, EPS], []),
    ("AdaMax", {}, ada_max, [P1, LR, B1, B2, EPS], []),
    ("AdamWithAmsgrad", {}, amsgrad, [P1, P2, LR, B1, B2, EPS], []),
    ("KerasMomentum", {}, keras, [LR], [MU]),
    ("KerasMomentum", {"use_nesterov": True}, keras_nesterov, [LR], [MU]),
    ("AddSign", {}, add_sign, [LR, ALPHA, MU, B1], []),
    ("PowerSign", {}, power_sign, [LR, ALPHA, MU, B1], []),
    ("ProximalGradientDescent", {}, proximal_sgd, [LR, L1, L2], []),
    ("ProximalAdagrad", {}, proximal_adagrad, [LR, L1, L2], []),
    ("AdagradDA", {}, dual, [], [LR, L1, L2, STEPS]),
    ("Ftrl", {}, ftrl, [], [LR, L1, L2, POWER]),
    ("FtrlV2", {}, ftrl_v2, [], [LR, L1, L2, L2S, POWER]),
]


def each_op(*kinds: str) -> Any:
    """Parametrises by the kinds of update that exist of each rule."""
    pairs = [(k, r) for k in kinds for r in RULES if f"{k}Apply{r[0]}" in OPS]
    ids = [f"{k}{r[0]}{'-'.join(['', *r[1]])}" for k, r in pairs]
    return pytest.mark.parametrize(("kind", "rule"), pairs, ids=ids)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks that arrays of 165 elements do not fill evenly."""
    monkeypatch.setattr(update_rules, "_BLOCK", 64)


def op_of(prefix: str, name: str, attributes: dict[str, Any]) -> Op:
    return OPS[f"{prefix}Apply{name}"](**attributes)


def arranged(op: Op, cells: Any, before: Any, grad: Any, rows: Any, after: Any) -> Any:
    """The inputs in the op's order, which differs about `indices`."""
    names = [a.name for a in op.inputs]
    inputs = [*cells, *scalars(before), grad, *scalars(after)]
    if rows is not None:
        inputs.insert(names.index("indices"), rows)
    if names[-1] == "global_step":
        inputs[-1] = np.int64(inputs[-1])
    return inputs


def cells_for(count: int, shape: tuple[int, ...], order: str = "C") -> list[Cell]:
    rng = np.random.default_rng(3)
    cells = []
    for i in range(count):
        cell = Cell(f"v{i}", float64)
        # Slots hold squares: above 0, and large enough for the centered variance.
        cell.assign(np.array(rng.uniform(1.0, 2.0, shape), order=order))
        cells.append(cell)
    if count == 4:
        cells[1].assign(cells[1].value * 0.1)
    return cells


def scalars(values: list[float]) -> list[Any]:
    return [np.float64(v) for v in values]


def formula(rule: Any, state: list[Any], grad: Any) -> list[Any]:
    flat = zip(*(np.ravel(a).tolist() for a in [*state, grad]), strict=True)
    rows = [rule(*values) for values in flat]
    return [np.reshape(column, np.shape(grad)) for column in zip(*rows, strict=True)]


@each_op("", "Resource")
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (15, 11)], ids=str)
def test_dense(rule: Any, shape: tuple[int, ...], kind: str) -> None:
    name, attributes, function, before, after = rule
    op = op_of(kind, name, attributes)
    cells = cells_for(sum(a.is_ref or a.name in op.by_handle for a in op.inputs), shape)
    old = [np.array(c.value) for c in cells]
    grad = np.asarray(np.random.default_rng(5).normal(size=shape))
    context = PlainContext()
    result = op.compute(context, *arranged(op, cells, before, grad, None, after))
    assert result is cells[0] if kind == "" else result == ()
    for cell, right in zip(cells, formula(function, old, grad), strict=True):
        assert cell.value.dtype == np.float64
        np.testing.assert_allclose(cell.value, right, rtol=1e-12, atol=1e-13)


@each_op("")
def test_readers_keep_what_they_read_and_any_layout_works(kind: str, rule: Any) -> None:
    name, attributes, function, before, after = rule
    op = op_of(kind, name, attributes)
    cells = cells_for(sum(a.is_ref for a in op.inputs), (15, 11), "F")
    read = [c.value for c in cells]
    copies = [a.copy() for a in read]
    grad = np.random.default_rng(5).normal(size=(11, 15)).T
    op.compute(PlainContext(), *arranged(op, cells, before, grad, None, after))
    for array, copy in zip(read, copies, strict=True):
        np.testing.assert_array_equal(array, copy)
    del read
    for _ in range(2):  # the second time nobody else holds the arrays
        copies = [np.array(c.value) for c in cells]
        op.compute(PlainContext(), *arranged(op, cells, before, grad, None, after))
        for cell, right in zip(cells, formula(function, copies, grad), strict=True):
            np.testing.assert_allclose(cell.value, right, rtol=1e-12, atol=1e-13)


def test_a_large_variable_is_updated_in_place() -> None:
    (cell,) = cells_for(1, (64, 32))
    address = cell.value.ctypes.data
    op = training_ops.ApplyGradientDescent()
    op.compute(PlainContext(), cell, np.float64(LR), np.ones((64, 32)))
    assert cell.value.ctypes.data == address


@each_op("Sparse", "ResourceSparse")
@pytest.mark.parametrize("indices", [[2, 0], [1, 1, 3, 1], []], ids=str)
def test_rows(rule: Any, indices: list[int], kind: str) -> None:
    name, attributes, function, before, after = rule
    op = op_of(kind, name, attributes)
    cells = cells_for(
        sum(a.is_ref or a.name in op.by_handle for a in op.inputs), (4, 3)
    )
    right = [np.array(c.value) for c in cells]
    grad = np.random.default_rng(5).normal(size=(len(indices), 3))
    for row, part in zip(indices, grad, strict=True):
        for array, new in zip(
            right, formula(function, [a[row] for a in right], part), strict=True
        ):
            array[row] = new
    where = np.array(indices, np.int64)
    op.compute(PlainContext(), *arranged(op, cells, before, grad, where, after))
    for cell, array in zip(cells, right, strict=True):
        np.testing.assert_allclose(cell.value, array, rtol=1e-12)


@pytest.mark.parametrize(
    ("grad", "indices", "words"),
    [
        (np.ones((2, 3)), [0, 4], "Index 4 at offset 1 in indices is out of range"),
        (np.ones((2, 3)), [-1, 0], "Index -1 at offset 0 in indices is out of range"),
        (np.ones((2, 3)), [0], "grad must be the same size as indices in the first"),
        (np.ones((1, 2)), [0], "var and grad must match in dimension 1"),
        (np.ones((1, 2)), [[0]], "indices must be one-dimensional"),
    ],
)
def test_bad_rows(grad: Any, indices: Any, words: str) -> None:
    cells = cells_for(2, (4, 3))
    old = cells[0].value.copy()
    op = training_ops.SparseApplyAdagrad()
    with pytest.raises(InvalidArgumentError, match=words):
        op.compute(PlainContext(), *cells, np.float64(LR), grad, np.array(indices))
    np.testing.assert_array_equal(cells[0].value, old)


def test_a_gradient_of_another_shape() -> None:
    cells = cells_for(1, (4, 3))
    with pytest.raises(InvalidArgumentError, match="do not have the same shape"):
        training_ops.ApplyGradientDescent().compute(
            PlainContext(), *cells, np.float64(LR), np.ones(3)
        )


@pytest.mark.parametrize("kind", ["", "Resource"])
def test_an_uninitialized_variable(kind: str) -> None:
    cell = Cell("w", float64)
    op = op_of(kind, "GradientDescent", {})
    error = NotFoundError if kind else FailedPreconditionError
    with pytest.raises(error, match="w"):
        op.compute(PlainContext(), cell, np.float64(LR), np.ones(3))
