"""Chains as machine code: NumPy's numbers, bit for bit."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tfteach.engine.fusion import fuse_large
from tfteach.engine.fusion.compiled_chains import MachineCode
from tfteach.framework import threads, variable_cell
from tfteach.framework.loops import compiled_loops
from tfteach.lib.training import optimizer
from tfteach.ops.training import update_formula, update_rules

pytest.importorskip("llvmlite")


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuse_large, "BLOCK", 64)
    monkeypatch.setattr(fuse_large, "MIN_ELEMENTS", 256)
    monkeypatch.setattr(fuse_large, "MIN_PARTS_PER_RESULT", 1.5)


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_loops, "_loops", {})
    monkeypatch.setattr(compiled_loops, "MIN_WORK", 0)


def values(fetches: Any, feeds: Any) -> tuple[Any, int]:
    """What a session gives, and how many loops were ready for it."""
    found: list[MachineCode] = []
    inner = MachineCode.loop

    def loop(self: MachineCode, *args: Any) -> Any:
        result = inner(self, *args)
        if result is not None:
            found.append(self)
        return result

    with pytest.MonkeyPatch.context() as patch, tf.Session() as session:
        patch.setattr(MachineCode, "loop", loop)
        return session.run(fetches, feeds), len(found)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_are_numpys(dtype: Any) -> None:
    x, y, c = (tf.placeholder(dtype, s) for s in ([None], [None], []))
    z = tf.maximum(x * y - c, -x) / y + tf.minimum(x, c)
    z = tf.add_n([z, x, tf.square(y)]) - x
    rng = np.random.RandomState(1)
    fed_x, fed_y = rng.randn(2, 1000).astype(dtype)
    fed_x[:5], fed_y[3:8] = np.nan, [0, np.inf, -np.inf, np.nan, -0.0]
    feeds = {x: fed_x, y: fed_y, c: dtype(0.3)}
    compiled, loops = values([z, z * c], feeds)
    assert loops == 1
    plain = tf.ConfigProto()
    plain.graph_options.optimizer_options.opt_level = -1
    with tf.Session(config=plain) as session:
        wanted = session.run([z, z * c], feeds)
    for ours, theirs in zip(compiled, wanted, strict=True):
        assert ours.dtype == dtype
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(
    "build",
    [
        lambda x: tf.exp(x * x) + x,  # no source for one element
        lambda x: tf.cast(x + x, tf.float64) * 2.0,  # two types
        lambda x: tf.cast(x, tf.int32) * 3 + 1,  # not floats
    ],
)
def test_other_chains_stay_with_numpy(build: Any) -> None:
    x = tf.placeholder(tf.float32, [None])
    fed = np.linspace(-2, 2, 1000, dtype=np.float32)
    found, loops = values(build(x), {x: fed})
    assert loops == 0
    assert found.shape == (1000,)


def test_a_compiler_that_fails_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("no such machine")

    monkeypatch.setattr(compiled_loops, "compile_loop", fails)
    x = tf.placeholder(tf.float32, [None])
    y = (x + 1.0) * x - x
    with caplog.at_level(logging.WARNING, "tfteach"):
        found, loops = values(y, {x: np.ones(1000)})
    assert loops == 0
    np.testing.assert_array_equal(found, np.ones(1000))
    assert "no such machine" in caplog.text


def test_without_llvm_there_is_nothing_to_compile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from tfteach.engine.fusion import compiled_chains as chains

    monkeypatch.setattr(chains, "is_installed", lambda: False)
    x = tf.placeholder(tf.float32, [None])
    found, loops = values((x + 1.0) * x - x, {x: np.ones(1000)})
    assert loops == 0
    np.testing.assert_array_equal(found, np.ones(1000))


OPTIMIZERS = {
    "descent": lambda: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adam": lambda: tf.train.AdamOptimizer(0.1),
    "adagrad": lambda: tf.train.AdagradOptimizer(0.1),
    "adadelta": lambda: tf.train.AdadeltaOptimizer(0.1),
    "rms_prop": lambda: tf.train.RMSPropOptimizer(0.1, momentum=0.5),
    "centered": lambda: tf.train.RMSPropOptimizer(0.1, centered=True),
    "ftrl": lambda: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.1),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_optimizers_move_as_with_numpy(
    name: str, dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(update_rules, "_BLOCK", 50)
    monkeypatch.setattr(update_rules, "_SHARED_BLOCK", 70)
    monkeypatch.setattr(threads, "MIN_PART", 70)
    monkeypatch.setattr(update_rules, "IN_PLACE_FROM", 50)
    monkeypatch.setattr(variable_cell, "IN_PLACE_FROM", 50)
    used = []

    def trained(is_installed: bool) -> Any:
        monkeypatch.setattr(update_formula, "is_installed", lambda: is_installed)
        with tf.Graph().as_default(), tf.Session() as session:
            start = np.linspace(-1, 1, 203, dtype=dtype)
            w = tf.get_variable("w", initializer=start)
            gradient = tf.sin(tf.range(203, dtype=start.dtype)) + w
            train = OPTIMIZERS[name]().apply_gradients([(gradient, w)])
            session.run(tf.global_variables_initializer())
            for _ in range(3):
                session.run(train)
            return session.run(tf.global_variables())

    inner = update_formula.UpdateFormula.loop

    def loop(*args: Any) -> Any:
        found = inner(*args)
        if found is not None:
            used.append(found)
        return found

    monkeypatch.setattr(update_formula.UpdateFormula, "loop", loop)
    compiled, plain = trained(True), trained(False)
    assert used
    for ours, theirs in zip(compiled, plain, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(
    "formula", ["var -= exp(grad)", "var = power(var, grad) - grad"]
)
def test_rules_that_the_compiler_would_round_otherwise_have_no_loop(
    formula: str,
) -> None:
    rule = update_formula.UpdateFormula(formula, ("var",), ())
    assert rule.loop(np.dtype(np.float32), [], 1) is None
    assert compiled_loops._loops == {}


ROWS = {
    "rms_prop": lambda: tf.train.RMSPropOptimizer(0.1, momentum=0.5),
    "centered": lambda: tf.train.RMSPropOptimizer(0.1, centered=True),
    "momentum": OPTIMIZERS["momentum"],
    "nesterov": OPTIMIZERS["nesterov"],
    "adagrad": OPTIMIZERS["adagrad"],
    "ftrl": OPTIMIZERS["ftrl"],
}


@pytest.mark.parametrize(
    ("name", "dtype"),
    [*((name, np.float32) for name in ROWS), ("momentum", np.float64)],
)
def test_rows_move_as_with_numpy(
    name: str, dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(update_rules, "_ROW_ELEMENTS", 1)
    # Else equal rows would be added up before.
    monkeypatch.setattr(optimizer, "sum_duplicates", lambda *given: given)
    rows = np.array([4, 1, 4, 0, 4], np.int32)
    start = np.linspace(-1, 1, 30, dtype=dtype).reshape(5, 3, 2)
    values = np.cos(np.arange(30.0)).reshape(5, 2, 3).transpose(0, 2, 1).astype(dtype)

    def trained(is_installed: bool) -> Any:
        monkeypatch.setattr(update_formula, "is_installed", lambda: is_installed)
        with tf.Graph().as_default(), tf.Session() as session:
            w = tf.get_variable("w", initializer=start)
            gradient = tf.IndexedSlices(tf.constant(values), tf.constant(rows))
            train = ROWS[name]().apply_gradients([(gradient, w)])
            session.run(tf.global_variables_initializer())
            for _ in range(3):
                session.run(train)
            return session.run(tf.global_variables())

    plain = trained(False)
    assert compiled_loops._loops == {}
    compiled = trained(True)
    assert len(compiled_loops._loops) == 1
    for ours, theirs in zip(compiled, plain, strict=True):
        np.testing.assert_array_equal(ours, theirs)
