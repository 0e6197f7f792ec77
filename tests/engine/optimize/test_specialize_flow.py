"""Steps with loops and branches, made again for the shapes that they are fed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any
from unittest import mock

import numpy as np
import pytest

import tfteach as tf
from tfteach.engine.execute import program as execute
from tfteach.engine.flow.nested_source import NestedProgram, Script
from tfteach.ops.core.loop_stacks import StackPopV2, StackPushV2, StackV2

SHAPE_OPS = {"Shape", "ShapeN", "ConcatOffset", "BroadcastGradientArgs", "ZerosLike"}


def runs(
    fetches: Any, feeds: Sequence[dict[Any, Any]], at_once: bool, init: bool
) -> tuple[list[Any], NestedProgram]:
    """The values of a run with each of the feeds, and the program."""
    with (
        mock.patch.object(execute, "HOT_AFTER_RUNS", 1 if at_once else 10**9),
        tf.Session() as session,
    ):
        if init:
            session.run(tf.global_variables_initializer())
        found = [outcome(session, fetches, fed) for fed in feeds]
        return found, list(session._programs.values())[-1][0]


def outcome(session: tf.Session, fetches: Any, fed: dict[Any, Any]) -> Any:
    """What a run gives, or how it fails."""
    try:
        return session.run(fetches, fed)
    except tf.errors.InvalidArgumentError as error:
        return str(error).partition("Original stack")[0]


def special(fetches: Any, *feeds: dict[Any, Any], init: bool = False) -> list[Script]:
    """The scripts for the feeds' shapes; what they compute is checked."""
    wanted, program = runs(fetches, feeds, False, init)
    assert not program.hot
    found, program = runs(fetches, feeds, True, init)
    same(found, wanted)
    assert len(program.hot) == len({shapes_of(fed) for fed in feeds})
    return list(program.hot.values())


def same(found: Any, wanted: Any) -> None:
    flatten = tf.contrib.framework.nest.flatten
    for ours, theirs in zip(flatten(found), flatten(wanted), strict=True):
        np.testing.assert_array_equal(ours, theirs)
        assert getattr(ours, "dtype", None) == getattr(theirs, "dtype", None)


def shapes_of(fed: dict[Any, Any]) -> tuple[Any, ...]:
    return tuple(np.shape(value) for value in fed.values())


def types(script: Script) -> Counter[str]:
    """How many instructions there are in loops and branches, by op type."""
    text = script.source.split("\n")
    return Counter(
        instruction.node.op.type
        for number, instruction in script.generated.origins.items()
        if text[number - 1].startswith("  ")
    )


# ---- programs as learners write them


def matrix(*shape: int) -> Any:
    return np.random.RandomState(0).uniform(-1, 1, shape).astype(np.float32)


def char_rnn() -> tuple[tf.Tensor, list[dict[Any, Any]]]:
    text = tf.placeholder(tf.int32, [None, 6])
    x = tf.one_hot(text, 5)
    cell = tf.nn.rnn_cell.GRUCell(4)
    out, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
    logits = tf.reshape(tf.layers.dense(tf.reshape(out, [-1, 4]), 5), [-1, 6, 5])
    loss = tf.nn.softmax_cross_entropy_with_logits_v2(
        labels=x[:, 1:], logits=logits[:, :-1]
    )
    return tf.reduce_mean(loss), [
        {text: np.arange(6 * n).reshape(n, 6) % 5} for n in (3, 2)
    ]


def lstm_with_lengths() -> tuple[tf.Tensor, list[dict[Any, Any]]]:
    x = tf.placeholder(tf.float32, [None, None, 3])
    length = tf.placeholder(tf.int32, [2])
    cell = tf.nn.rnn_cell.LSTMCell(4, use_peepholes=True)
    cell = tf.nn.rnn_cell.DropoutWrapper(cell, 0.8, 0.9, 0.9, seed=3)
    out, state = tf.nn.dynamic_rnn(cell, x, length, dtype=tf.float32)
    loss = tf.reduce_mean(out**2) + tf.reduce_sum(state.c)
    return loss, [{x: matrix(2, n, 3), length: [n, 1]} for n in (4, 2)]


def attention() -> tuple[tf.Tensor, list[dict[Any, Any]]]:
    lib = tf.contrib.seq2seq
    x = tf.placeholder(tf.float32, [None, None, 3])
    y = tf.placeholder(tf.int32, [2, None])
    length = tf.placeholder(tf.int32, [None])
    make = tf.nn.rnn_cell.GRUCell
    encoded, state = tf.nn.dynamic_rnn(make(4), x, length, dtype=tf.float32)
    memory = lib.LuongAttention(4, encoded, memory_sequence_length=length)
    cell = lib.AttentionWrapper(make(4), memory, attention_layer_size=3)
    embedding = tf.get_variable("embedding", [7, 3])
    steps = tf.fill([tf.shape(y)[0]], tf.shape(y)[1])
    helper = lib.TrainingHelper(tf.nn.embedding_lookup(embedding, y), steps)
    start = cell.zero_state(tf.shape(x)[0], tf.float32).clone(cell_state=state)
    decoder = lib.BasicDecoder(cell, helper, start, tf.layers.Dense(7))
    out = lib.dynamic_decode(decoder)[0].rnn_output
    loss = lib.sequence_loss(out, y, tf.ones_like(y, tf.float32))
    fed = {x: matrix(2, 4, 3), y: [[1, 2, 3], [4, 5, 6]], length: [4, 2]}
    return loss, [fed, {**fed, y: [[1, 2, 3, 4], [4, 5, 6, 0]]}]


def mapped_and_scanned() -> tuple[tf.Tensor, list[dict[Any, Any]]]:
    x = tf.placeholder(tf.float32, [None, None])
    weights = tf.get_variable("w", [3, 3])
    mapped = tf.map_fn(lambda row: tf.tensordot(tf.tanh(row) * 2, weights, 1), x)
    turn = lambda a, row: a + tf.tanh(tf.squeeze(tf.matmul(a[None], weights), 0) + row)  # noqa: E731
    scanned = tf.scan(turn, mapped)
    folded = tf.foldr(lambda a, row: a * 0.5 + row, scanned)
    loss = tf.reduce_sum(scanned**2) + tf.reduce_sum(folded)
    return loss, [{x: matrix(n, 3)} for n in (4, 2)]


def loops_in_loops() -> tuple[tf.Tensor, list[dict[Any, Any]]]:
    x = tf.placeholder(tf.float32, [None, None])
    weights = tf.get_variable("w", [3, 3])

    def inner(i: tf.Tensor, v: tf.Tensor) -> Any:
        return i + 1, tf.tanh(tf.matmul(v, weights) + v)

    def outer(i: tf.Tensor, v: tf.Tensor) -> Any:
        _, v = tf.while_loop(lambda j, _: j < i, inner, [0, v])
        double = lambda: v * 2.0 + tf.reduce_mean(v, 0)  # noqa: E731
        return i + 1, tf.cond(tf.reduce_sum(v) > 0.0, double, lambda: v - 1.0)

    _, v = tf.while_loop(lambda i, _: i < 4, outer, [0, x])
    return tf.reduce_sum(v), [{x: matrix(n, 3)} for n in (4, 2)]


@pytest.mark.parametrize(
    "program",
    [char_rnn, lstm_with_lengths, attention, mapped_and_scanned, loops_in_loops],
)
def test_training_is_the_same(program: Callable[[], Any]) -> None:
    tf.set_random_seed(1)
    loss, feeds = program()
    train = tf.train.AdamOptimizer().minimize(loss)
    with tf.control_dependencies([train]):
        states = [v.read_value() for v in tf.trainable_variables()]
    for script in special([loss, *states], *feeds, feeds[0], init=True):
        assert not SHAPE_OPS & types(script).keys()


# ---- random programs


class _Maker:
    """Builds a random program over matrices whose sizes the graph does not know."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def values(self, values: list[tf.Tensor], depth: int) -> list[tf.Tensor]:
        for _ in range(self.random.randint(1, 3)):
            kind = self.random.random()
            if depth and kind < 0.25:
                made = self.branch(values, depth - 1)
            elif depth and kind < 0.55:
                made = self.loop(values, depth - 1)
            elif depth and kind < 0.65:
                made = self.array(values)
            else:
                made = self.op(values)
            values = [*values, made]
        return values

    def op(self, values: list[tf.Tensor]) -> tf.Tensor:
        a, b = self.random.choice(values), self.random.choice(values)
        sizes = tf.shape(a)
        return self.random.choice(
            [
                lambda: tf.tanh(a) * tf.reduce_mean(b, 0, keepdims=True)[:, :1],
                lambda: tf.concat([a, tf.zeros_like(a) + 0.5], 0)[:3],
                lambda: tf.reshape(tf.reshape(a, [-1]) * 0.5, sizes),
                lambda: tf.reshape(a, [sizes[0], -1]) + tf.reduce_sum(b) * 0.01,
                lambda: tf.concat([a[:, 1:], a[:, :1]], 1) - tf.to_float(sizes[1]),
                lambda: tf.tanh(tf.matmul(a, a, transpose_b=True))[:, :2],
                lambda: a / tf.to_float(tf.size(a)) - tf.ones(sizes),
                lambda: tf.stop_gradient(tf.fill(sizes, tf.reduce_max(b))) * a,
                lambda: tf.reduce_sum(a, [], keepdims=True) * 0.5,
            ]
        )()

    def branch(self, values: list[tf.Tensor], depth: int) -> tf.Tensor:
        value = self.random.choice(values)
        predicate = self.random.choice(
            [tf.reduce_sum(value) > 0.0, tf.shape(value)[0] > 2, tf.size(value) < 1]
        )
        one = lambda: self.values(values, depth)[-1]  # noqa: E731
        return tf.cond(predicate, one, one)

    def loop(self, values: list[tf.Tensor], depth: int) -> tf.Tensor:
        turns = self.random.choice([0, 1, 3, tf.shape(self.random.choice(values))[0]])
        outer = self.random.sample(values, min(2, len(values)))

        def body(i: tf.Tensor, a: tf.Tensor, b: tf.Tensor) -> Any:
            made = self.values([a, b, *outer], depth)
            return i + 1, self.random.choice(made), tf.tanh(made[-1])

        first, second = self.random.choice(values), self.random.choice(values)
        any_matrix = tf.TensorShape([None, None])
        invariants = [tf.TensorShape([]), any_matrix, any_matrix]
        start = [0, tf.placeholder_with_default(first, [None, None]), second]
        start[2] = tf.placeholder_with_default(second, [None, None])
        goes_on = lambda i, a, b: i < turns  # noqa: E731
        found = tf.while_loop(goes_on, body, start, invariants)
        return found[self.random.choice([1, 2])]

    def array(self, values: list[tf.Tensor]) -> tf.Tensor:
        value = self.random.choice(values)
        sizes = tf.shape(value)

        def body(i: tf.Tensor, array: Any) -> Any:
            return i + 1, array.write(i, value[i] * tf.to_float(i))

        array = tf.TensorArray(tf.float32, sizes[0], infer_shape=False)
        array = tf.while_loop(lambda i, _: i < sizes[0], body, [0, array])[1]
        stacked = array.stack()
        stacked.set_shape([None, None])
        return stacked


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_compute_the_same(seed: int) -> None:
    x = tf.placeholder(tf.float32, [None, None])
    values = _Maker(seed).values([x], depth=2)
    total = tf.add_n([tf.reduce_sum(value) for value in values])
    gradient = tf.gradients(total, x)[0]
    feeds = [{x: matrix(*shape)} for shape in ((2, 3), (3, 1), (1, 2))]
    wanted, _ = runs([*values, gradient], feeds, False, False)
    same(runs([*values, gradient], feeds, True, False)[0], wanted)


# ---- one by one


def growing(x: tf.Tensor) -> tf.Tensor:
    """Two rows more in each of three turns."""
    return tf.while_loop(
        lambda i, v: i < 3,
        lambda i, v: (i + 1, tf.concat([v, v[:2] * 0.5], 0) + tf.to_float(tf.size(v))),
        [0, x],
        [tf.TensorShape([]), tf.TensorShape([None, 3])],
    )[1]


def test_what_grows_from_turn_to_turn_has_no_known_shape() -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    grown = growing(x)
    gradient = tf.gradients(tf.square(grown), x)
    scripts = special([grown, gradient], {x: matrix(2, 3)}, {x: matrix(4, 3)})
    for script in scripts:
        assert types(script)["Size"] == 1
        # The sizes of the two parts; the second one's are known.
        assert types(script)["ShapeN"] == types(script)["ConcatOffset"] == 1


def test_arithmetic_with_shapes_is_gone() -> None:
    x = tf.placeholder(tf.float32, [None, 3])

    def turn(i: tf.Tensor, v: tf.Tensor) -> Any:
        sizes = tf.shape(v)
        return i + 1, tf.reshape(v + v[0], [sizes[0], 3]) / tf.to_float(sizes[0] * 2)

    value = tf.while_loop(lambda i, v: i < 3, turn, [0, x])[1]
    gradient = tf.gradients(value, x)
    scripts = special([value, gradient], {x: matrix(2, 3)}, {x: matrix(5, 3)})
    gone = {"Shape", "StridedSlice", "Pack", "Cast", "StackPushV2", "StackPopV2"}
    for script in scripts:
        # Of the slices that of the values stays, not those of the sizes.
        assert types(script).pop("StridedSlice") == 1
        assert not (gone - {"StridedSlice"}) & types(script).keys()
        assert not {"Reshape", "BroadcastGradientArgs"} & types(script).keys()


def test_branches_that_do_not_fit_are_left_to_runs() -> None:
    x = tf.placeholder(tf.float32, [None])
    n = tf.shape(x)[0]
    value = tf.cond(n > 2, lambda: tf.reshape(x, [3]) * 2.0, lambda: x[:n] - 1.0)
    both = tf.shape(value)
    gradient = tf.gradients(value, x)
    feeds = [{x: matrix(size)} for size in (3, 2, 4)]
    special([value, both, gradient], *feeds)
    found, _ = runs(value, feeds, True, False)
    assert "a tensor with 4 values" in found[2]


def test_only_the_branch_taken_runs() -> None:
    x = tf.placeholder(tf.float32, [None])
    ran = []

    def note(name: str) -> Callable[[], tf.Tensor]:
        def branch() -> tf.Tensor:
            made = tf.py_func(lambda: ran.append(name) or matrix(2), [], tf.float32)
            return tf.reduce_sum(made, []) + tf.to_float(tf.size(x))

        return branch

    value = tf.cond(tf.size(x) > 2, note("large"), note("small"))
    runs(value, [{x: matrix(3)}, {x: matrix(1)}, {x: matrix(3)}], True, False)
    assert ran == ["large", "small", "large"]


def test_a_loop_that_takes_no_turn() -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    n = tf.shape(x)[0]
    array = tf.TensorArray(tf.float32, n, element_shape=[3])
    value = tf.while_loop(
        lambda i, _: i < n, lambda i, a: (i + 1, a.write(i, x[i] * 2.0)), [0, array]
    )[1].stack()
    special([value, tf.gradients(value, x)], {x: matrix(0, 3)}, {x: matrix(2, 3)})


def test_what_a_read_gives_that_was_never_written() -> None:
    x = tf.placeholder(tf.float32, [None, None])

    def turn(i: tf.Tensor, a: Any) -> Any:
        return i + 2, a.write(i, x[i] + tf.to_float(tf.size(x)))

    array = tf.TensorArray(tf.float32, 3, clear_after_read=False)
    array = tf.while_loop(lambda i, a: i < 3, turn, [0, array])[1]
    read = array.read(0) * array.read(2)
    special([read, tf.gradients(read, x)], {x: matrix(3, 2)}, {x: matrix(3, 4)})


def test_stacks_that_are_no_histories_stay() -> None:
    x = tf.placeholder(tf.float32, [None])
    count = tf.while_loop(lambda i: i < tf.size(x), lambda i: i + 1, [0])
    stack = StackV2(elem_type=tf.int32)
    first, second = stack(tf.constant(-1)), stack(tf.constant(-1))
    push, pop = StackPushV2(), StackPopV2(elem_type=tf.int32)
    one = push(first, tf.constant(7))
    with tf.control_dependencies([one]):
        two = push(first, tf.constant(8))
    with tf.control_dependencies([two, push(second, tf.constant(9))]):
        values = [pop(first), pop(second)]
    with tf.control_dependencies(values):
        empty = pop(second)
    (script,) = special([values, count], {x: matrix(2)})
    names = [line.node.op.type for line in script.generated.origins.values()]
    assert names.count("StackPushV2") == 3
    assert names.count("StackPopV2") == 2
    ((found,), _) = runs([empty, count], [{x: matrix(2)}], True, False)
    assert "is empty when calling Pop()" in found


def test_what_changes_from_turn_to_turn_is_popped() -> None:
    x = tf.placeholder(tf.float32, [None])

    def turn(i: tf.Tensor, v: tf.Tensor) -> Any:
        factor = tf.cond(i < 1, lambda: tf.size(x), lambda: tf.size(x) * 2)
        return i + 1, v * v * tf.to_float(factor)

    value = tf.while_loop(lambda i, v: i < 3, turn, [0, x])[1]
    special([value, tf.gradients(value, x)], {x: matrix(2)}, {x: matrix(3)})


def test_values_that_are_handed_on_are_the_callers_own() -> None:
    x = tf.placeholder(tf.float32, [None])
    variable = tf.get_variable("v", initializer=tf.zeros([2]))
    count = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
    same_x = tf.reduce_sum(x, [])
    kept = variable.assign(same_x)
    fed = matrix(2)
    wanted = fed.copy()
    with (
        mock.patch.object(execute, "HOT_AFTER_RUNS", 1),
        tf.Session() as session,
    ):
        session.run(variable.initializer)
        found = session.run([same_x, count], {x: fed})[0]
        session.run([kept.op, count], {x: fed})
        fed[:] = 5.0
        assert found.tolist() == wanted.tolist()
        assert session.run(variable).tolist() == wanted.tolist()


def test_observed_runs_and_other_feeds_beside_special_ones() -> None:
    x = tf.placeholder(tf.float32, [None])
    value = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * 2.0), [0, x])[1]
    with tf.Session() as session:
        for i in range(execute.HOT_AFTER_RUNS + 2):
            assert session.run(value, {x: [1.0]}).tolist() == [8.0]
            assert session.run(value, {x: np.ones(i + 2)}).tolist() == [8.0] * (i + 2)
        program = list(session._programs.values())[-1][0]
        assert list(program.hot) == [((1,),)]
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        metadata = tf.RunMetadata()
        traced = session.run(value, {x: [1.0]}, options, metadata)
        assert traced.tolist() == [8.0]
        _, device = metadata.step_stats.dev_stats
        assert [n.node_name for n in device.node_stats].count("while/mul") == 3


def test_constants_beside_a_loop() -> None:
    x = tf.placeholder(tf.float32, [None])
    value = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * 2.0), [0, x])[1]
    special([value, tf.identity(tf.constant(3)), tf.size(value)], {x: [1.0, 2.0]})
