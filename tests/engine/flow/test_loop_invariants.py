"""What is computed once for all turns of a loop, and the chains of a turn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tfteach.engine.execute import program
from tfteach.engine.execute.code_blocks import Loop, read_in, written_in
from tfteach.engine.execute.instruction import Instruction
from tfteach.engine.fusion.fuse_small import ChainKernel


@pytest.fixture(autouse=True)
def hot_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "HOT_AFTER_RUNS", 1)


def unstructured() -> tf.ConfigProto:
    """Runs steps as dataflow, op by op, as they are written."""
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.opt_level = -1
    return config


def loops_of(fetches: Any, feeds: Any) -> list[Loop]:
    """The loops of the program for these feeds; checks what it computes."""
    with tf.Session() as session, tf.Session(config=unstructured()) as plain:
        for s in (session, plain):
            s.run(tf.global_variables_initializer())
        found = [session.run(fetches, feeds) for _ in range(3)]
        for ours, theirs in zip(found[-1], plain.run(fetches, feeds), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
        [script] = list(session._programs.values())[-1][0].hot.values()
        return [s for s in script.nested.block.statements if isinstance(s, Loop)]


def products(loop: Loop) -> Iterator[Instruction]:
    for statement in loop.body.statements:
        if isinstance(statement, Instruction) and statement.node.op.type == "MatMul":
            yield statement


def made_before(loop: Loop) -> set[int]:
    inside = set[int]().union(*map(written_in, loop.body.statements))
    read = set[int]().union(*map(read_in, loop.body.statements))
    return read - inside


def power_and_gradient(weights: Any, x: Any) -> list[Any]:
    result = tf.while_loop(
        lambda i, h: i < 4, lambda i, h: (i + 1, tf.tanh(tf.matmul(h, weights))), [0, x]
    )[1]
    return [result, *tf.gradients(result, [weights, x])]


def numbers(*shape: int) -> Any:
    return np.random.RandomState(sum(shape)).randn(*shape).astype(np.float32) / 4


def test_a_matrix_of_all_turns_is_transposed_once() -> None:
    weights = tf.Variable(numbers(30, 30))
    x = tf.placeholder(tf.float32, [None, 30])
    _, back = loops_of(power_and_gradient(weights, x), {x: numbers(20, 30)})
    [to_input, to_weights] = products(back)
    assert to_input.node.spec.transpose_b
    assert to_input.inputs[1] in made_before(back)
    assert to_input.function.func.__self__.transpose_b is False
    assert not set(to_weights.inputs) & made_before(back)


def test_a_matrix_that_changes_is_left() -> None:
    x = tf.placeholder(tf.float32, [20, 20])

    def body(i: Any, h: Any, w: Any) -> Any:
        return i + 1, tf.matmul(h, w, transpose_b=True), w * 0.5

    found = tf.while_loop(lambda i, h, w: i < 3, body, [0, x, x + 1])
    [loop] = loops_of(found[1:], {x: numbers(20, 20)})
    [product] = products(loop)
    assert product.function.func.__self__.transpose_b is True


@pytest.mark.parametrize("reads_both", [False, True])
def test_columns_that_nobody_reads_are_not_computed(reads_both: bool) -> None:
    weights = tf.Variable(numbers(50, 30))
    inputs = tf.placeholder(tf.float32, [None, 20])
    state = tf.placeholder(tf.float32, [None, 30])

    def body(i: Any, h: Any) -> Any:
        return i + 1, tf.tanh(tf.matmul(tf.concat([inputs, h], 1), weights))

    result = tf.while_loop(lambda i, h: i < 4, body, [0, state])[1]
    sources = [weights, state, inputs] if reads_both else [weights, state]
    fetches = [result, *tf.gradients(result, sources)]
    _, back = loops_of(fetches, {inputs: numbers(8, 20), state: numbers(8, 30)})
    kinds = [s.node.op.type for s in back.body.statements if isinstance(s, Instruction)]
    # The gradient of a concatenation cuts the product's columns apart again.
    assert kinds.count("Slice") == (2 if reads_both else 0)


def test_a_loop_that_takes_no_turn() -> None:
    weights = tf.Variable(numbers(30, 30))
    x, turns = tf.placeholder(tf.float32, [None, 30]), tf.placeholder(tf.int32, [])

    def body(i: Any, h: Any) -> Any:
        return i + 1, tf.matmul(h, weights, transpose_b=True)

    result = tf.while_loop(lambda i, h: i < turns, body, [0, x])[1]
    for count in (0, 2):
        loops_of([result], {x: numbers(5, 30), turns: count})


def test_chains_of_a_turn(compiled: list[ChainKernel]) -> None:
    x = tf.placeholder(tf.float32, [None, 40])

    def body(i: Any, h: Any, s: Any) -> Any:
        moved = tf.sigmoid(h * 2 - s) + h
        kept = tf.cond(i < 2, lambda: moved * moved - h, lambda: moved / 3 + s)
        return i + 1, kept, s + tf.maximum(kept, h) * 0.5

    found = tf.while_loop(lambda i, h, s: i < 4, body, [0, x, x / 2])
    fetches = [*found[1:], *tf.gradients(found[2], x)]
    loops_of(fetches, {x: numbers(20, 40)})
    assert len(compiled) >= 5


def test_chains_of_a_turn_in_a_turn(compiled: list[ChainKernel]) -> None:
    x = tf.placeholder(tf.float32, [None, 40])

    def outer(i: Any, h: Any) -> Any:
        def inner(j: Any, g: Any) -> Any:
            return j + 1, g * 0.5 + h - g * h

        return i + 1, tf.while_loop(lambda j, g: j < 3, inner, [0, h - x * 2])[1]

    found = tf.while_loop(lambda i, h: i < 3, outer, [0, x])
    loops_of(found[1:], {x: numbers(20, 40)})
    assert len(compiled) == 2
