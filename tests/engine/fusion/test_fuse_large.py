"""Element-wise chains in blocks: the same values, whatever the arrays look like."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tfteach.engine.execute.program import HOT_AFTER_RUNS, Program
from tfteach.engine.fusion import fuse_large
from tfteach.engine.fusion.fuse_large import FusedKernel


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuse_large, "BLOCK", 64)
    monkeypatch.setattr(fuse_large, "MIN_ELEMENTS", 256)
    monkeypatch.setattr(fuse_large, "MIN_PARTS_PER_RESULT", 1.5)


def kernels(session: tf.Session) -> list[FusedKernel]:
    """The chains of the program that the session compiled last."""
    program = list(session._programs.values())[-1][0]
    assert isinstance(program, Program)
    found = [instruction.function for instruction in program.compiled.fused]
    return [kernel for kernel in found if isinstance(kernel, FusedKernel)]


def plain_session() -> tf.Session:
    config = tf.ConfigProto()
    options = config.graph_options.optimizer_options
    options.opt_level = type(options).L0
    return tf.Session(config=config)


def blocks_of(kernel: FusedKernel, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Records the size of the largest argument of each call of the chain's function."""
    generated = kernel._generate()
    inner = generated.function
    sizes: list[int] = []

    def recorded(*arrays: Any) -> Any:
        sizes.append(max(array.size for array in arrays))
        return inner(*arrays)

    generated.function = recorded
    monkeypatch.setattr(kernel, "_generated", generated)
    return sizes


SHAPES = [
    ((1000,), (1000,), ()),
    ((1000,), (1000,), (1,)),
    ((40, 30), (40, 30), ()),
    ((40, 30), (30,), (1, 1)),
    ((40, 30), (1, 30), (40, 30)),
    ((40, 30), (40, 1), ()),
    ((40, 5, 6), (5, 6), (6,)),
    ((1, 1000), (1000,), ()),
    ((7,), (7,), ()),
    ((30,), (40, 30), (40, 1)),
    ((0, 30), (30,), ()),
]


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("known", [True, False])
def test_values_are_those_of_ops_one_by_one(shapes: Any, known: bool) -> None:
    a, b, c = (tf.placeholder(tf.float32, shape if known else None) for shape in shapes)
    small = b * c  # may not have the shape of the whole
    kept = tf.maximum(a * small, 0.1)
    fetches = [tf.exp(kept - a) / (1.0 + c), kept, small]
    rng = np.random.RandomState(0)
    fed = [np.float32(rng.rand(*shape)) for shape in shapes]
    with plain_session() as session:
        wanted = session.run(fetches, dict(zip((a, b, c), fed, strict=True)))
    with tf.Session() as session:
        for _ in range(HOT_AFTER_RUNS + 2):
            found = session.run(fetches, dict(zip((a, b, c), fed, strict=True)))
            for ours, theirs in zip(found, wanted, strict=True):
                np.testing.assert_array_equal(ours, theirs)
                assert ours.dtype == theirs.dtype


def test_large_arrays_go_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    x = tf.placeholder(tf.float32, [None])
    y = tf.tanh(x * 2.0 + 1.0) - x
    with tf.Session() as session:
        session.run(y, {x: [1.0]})
        (kernel,) = kernels(session)
        assert [part.node.op.type for part in kernel.parts] == [
            "Mul",
            "AddV2",
            "Tanh",
            "Sub",
        ]
        sizes = blocks_of(kernel, monkeypatch)
        session.run(y, {x: np.ones(255)})
        assert sizes == [255]
        sizes.clear()
        session.run(y, {x: np.ones(300)})
        assert sizes == [60] * 5


def test_rows_go_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    x, bias = tf.placeholder(tf.float32, [40, 30]), tf.placeholder(tf.float32, [30])
    y = tf.nn.relu(x + bias) * 2.0
    with tf.Session() as session:
        session.run(y, {x: np.ones([40, 30]), bias: np.ones(30)})
        (kernel,) = kernels(session)
        sizes = blocks_of(kernel, monkeypatch)
        session.run(y, {x: np.ones([40, 30]), bias: np.ones(30)})
        assert sizes == [60] * 20


def test_arrays_known_to_be_small_are_not_fused() -> None:
    x = tf.placeholder(tf.float32, [255])
    with tf.Session() as session:
        session.run(tf.exp(x * 2.0), {x: np.ones(255)})
        assert kernels(session) == []


def test_a_chain_ends_at_an_update_of_what_it_reads() -> None:
    v = tf.get_variable("v", initializer=tf.ones([300]))
    before = tf.exp(v * 2.0)
    with tf.control_dependencies([before]):
        update = v.assign_add(tf.ones([300]))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for turn in range(3):
            found, _ = session.run([before, update])
            np.testing.assert_allclose(found, np.exp(2.0 * (turn + 1)), rtol=1e-5)


def test_an_error_names_its_op() -> None:
    x, y = tf.placeholder(tf.int32, [300]), tf.placeholder(tf.int32, None)
    z = (x + 1) // y + x
    with tf.Session() as session:
        ones = np.ones(300, np.int32)
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError) as caught:
                session.run(z, {x: ones, y: ones * 0})
            assert caught.value.op.type == "FloorDiv"
        with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible") as bad:
            session.run(z, {x: ones, y: np.ones(7)})
        assert bad.value.op.type == "FloorDiv"
        assert session.run(z, {x: ones, y: ones}).tolist() == [3] * 300


def test_the_last_ops_may_be_targets() -> None:
    v = tf.get_variable("v", initializer=tf.ones([300]))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run((v * 2.0 + v).op) is None
