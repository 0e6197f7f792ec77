"""Chains of element-wise ops as one kernel of a card, on the stand-in for CuPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests import strict_card
from tests.card_arrays import to_card, to_host
from tests.card_capture import STATE
from tests.card_kernels import ElementwiseKernel
from tfteach import ops
from tfteach.engine.execute.program import HOT_AFTER_RUNS
from tfteach.engine.fusion.fuse_on_card import CardChain
from tfteach.framework.cuda_source import cuda_expression
from tfteach.framework.op import OPS

assert ops  # all classes of ops are defined

EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.5, 7.0, 1e-7, 80.0, -80.0]
EDGES += [np.inf, -np.inf, np.nan]


def with_formulas() -> Iterator[tuple[str, str]]:
    for name, kind in sorted(OPS.items()):
        formula = kind.card_formula
        if formula is not None and not kind.converts and "Logical" not in name:
            yield name, formula


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "formula"), list(with_formulas()))
def test_formulas_compute_what_kernels_do(name: str, formula: str, dtype: str) -> None:
    spec = OPS[name]()
    count = len(type(spec).inputs)
    values = np.array(EDGES, dtype)
    given = [grid.ravel() for grid in np.meshgrid(*[values] * count)]
    is_choice = name == "SelectV2"
    if is_choice:
        given[0] = given[0] > 0
    with np.errstate(all="ignore"):
        expected = spec.compute(np, *given)
    kind = "float" if dtype == "float32" else "double"
    lines = [
        f"{'bool' if a.dtype == bool else kind} s{i} = a{i};"
        for i, a in enumerate(given)
    ]
    names = [f"s{i}" for i in range(count)]
    lines.append(f"r0 = {cuda_expression(formula.format(*names), kind)};")
    taken = ", ".join(f"{a.dtype} a{i}" for i, a in enumerate(given))
    kernel = ElementwiseKernel(taken, f"{expected.dtype} r0", "\n".join(lines))
    found = to_host(kernel(*map(to_card, given)))
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def twenty_ops(x: Any) -> Any:
    for i in range(10):
        x = tf.maximum(x * (1.0 + 0.1 * i), 0.5 - x)
    return x


def a_row_and_a_column(x: Any) -> Any:
    return tf.sigmoid(x * x[:1] + x[:, 1:2]) / tf.reduce_sum(x * x)


def a_bias(x: Any) -> Any:
    return tf.nn.relu(tf.nn.bias_add(x, [1.0, -1.0, 0.5]))


def truth_values(x: Any) -> Any:
    chosen = tf.logical_and(x > 0.1, tf.logical_not(x > 0.8))
    return tf.where(chosen, tf.exp(x), tf.square(x)) * tf.cast(chosen, tf.float32)


def casts(x: Any) -> Any:
    whole = tf.cast(x * 10.0, tf.int64)
    return tf.cast(whole, tf.float64) * 0.1 + tf.cast(x, tf.float64)


def halves(x: Any) -> Any:
    half = tf.cast(x, tf.float16)
    return tf.tanh(half * 3.0 + 1.0) * half


def several_results(x: Any) -> Any:
    y = tf.sqrt(tf.abs(x) + 1.0)
    return tf.concat([y, y * y * x], 1)


def powers(x: Any) -> Any:
    return tf.pow(tf.abs(x), 2.0) + tf.pow(tf.abs(x) + 0.1, 1.5) - tf.rsqrt(x * x + 1.0)


CHAINS = [
    twenty_ops,
    a_row_and_a_column,
    a_bias,
    truth_values,
    casts,
    halves,
    several_results,
    powers,
]


@pytest.mark.parametrize("function", CHAINS)
def test_chains_compute_what_the_cpu_does(
    function: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def runs() -> list[Any]:
        with tf.Graph().as_default(), tf.Session() as sess:
            x = tf.placeholder(tf.float32, [None, 3])
            y = function(x)
            rng = np.random.default_rng(3)
            feeds = rng.normal(size=(HOT_AFTER_RUNS + 6, 4, 3))
            found = [sess.run(y, {x: feed}) for feed in feeds]
            [step] = [s for p, _ in sess._programs.values() for s in p.hot.values()]
            steps.append(step)
            return found

    steps: list[Any] = []
    expected = runs()
    strict_card.install(monkeypatch)
    tolerance = 2e-3 if function is halves else 1e-5
    for found, right in zip(runs(), expected, strict=True):
        assert found.dtype == right.dtype
        np.testing.assert_allclose(found, right, rtol=tolerance, atol=1e-6)
    fused = [i.function for i in steps[1]._compiled.fused]
    assert any(isinstance(kernel, CardChain) for kernel in fused)


def test_twenty_ops_are_one_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    strict_card.install(monkeypatch)
    x = tf.placeholder(tf.float32, [None, 3])
    y = twenty_ops(x)
    with tf.Session() as sess:
        counts = []
        for _ in range(HOT_AFTER_RUNS + 2):
            kernels = STATE.kernels
            sess.run(y, {x: np.ones((5, 3))})
            counts.append(STATE.kernels - kernels)
        assert counts[-1] == 1
        assert counts[0] == 30


def test_what_no_formula_can_say() -> None:
    assert cuda_expression("[x]", "float") is None
    assert cuda_expression("unknown(x)", "float") is None
    assert cuda_expression("x @ y", "float") is None
    assert cuda_expression("-x * 2 + 0.5", "double") == "(((-x) * 2.0) + 0.5)"
