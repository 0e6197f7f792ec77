"""Chains as machine code: NumPy's numbers, bit for bit, and never a wait for them."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tfteach.runtime import fuse, machine_code
from tfteach.runtime.machine_code import MachineCode

pytest.importorskip("numba")


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuse, "BLOCK", 64)
    monkeypatch.setattr(fuse, "MIN_ELEMENTS", 256)
    monkeypatch.setattr(fuse, "MIN_PARTS_PER_RESULT", 1.5)


def values(fetches: Any, feeds: Any, waits: bool) -> tuple[Any, int]:
    """What a session gives, and how many loops were ready for it."""
    found: list[MachineCode] = []
    inner = MachineCode.loop

    def loop(self: MachineCode, *args: Any) -> Any:
        result = inner(self, *args)
        if waits and result is None and self._loops:
            for future in self._loops.values():
                future.exception(60)
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
    compiled, loops = values([z, z * c], feeds, waits=True)
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
    found, loops = values(build(x), {x: fed}, waits=True)
    assert loops == 0
    assert found.shape == (1000,)


def test_nobody_waits_for_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []
    inner = MachineCode._compile

    def slow(self: MachineCode, *args: Any) -> Any:
        started.append(self)
        return inner(self, *args)

    monkeypatch.setattr(MachineCode, "_compile", slow)
    x = tf.placeholder(tf.float32, [None])
    y = (x + 1.0) * x - x
    _, loops = values(y, {x: np.ones(1000)}, waits=False)
    assert loops == 0
    machine_code._compilers().submit(lambda: None).result(60)
    assert len(started) == 1


def test_a_compiler_that_fails_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(self: MachineCode, *args: Any) -> Any:
        raise RuntimeError("no such machine")

    monkeypatch.setattr(MachineCode, "_compile", fails)
    x = tf.placeholder(tf.float32, [None])
    y = (x + 1.0) * x - x
    with caplog.at_level(logging.WARNING, "tfteach"):
        found, loops = values(y, {x: np.ones(1000)}, waits=True)
    assert loops == 0
    np.testing.assert_array_equal(found, np.ones(1000))
    assert "no such machine" in caplog.text


def test_without_numba_there_is_nothing_to_compile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(machine_code, "is_installed", lambda: False)
    x = tf.placeholder(tf.float32, [None])
    found, loops = values((x + 1.0) * x - x, {x: np.ones(1000)}, waits=True)
    assert loops == 0
    np.testing.assert_array_equal(found, np.ones(1000))
