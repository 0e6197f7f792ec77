from __future__ import annotations

import numpy as np
import pytest

import tfteach as tf
from tfteach.explain.building.growth import Growth, watch_growth
from tfteach.explain.building.lazy_loading import built_in_run
from tfteach.explain.graphs.duplicate_ops import Twins
from tfteach.explain.graphs.large_constants import size_text


def program(lazy: bool, steps: int = 10) -> Growth:
    graph = tf.Graph()
    with graph.as_default(), tf.Session() as sess, watch_growth(graph) as growth:
        x = tf.Variable(10, name="x")
        y = tf.Variable(20, name="y")
        z = None if lazy else tf.add(x, y)
        sess.run(tf.global_variables_initializer())
        for _ in range(steps):
            if lazy:
                sess.run(tf.add(x, y))
            else:
                sess.run(z)
    return growth


def test_the_normal_program() -> None:
    growth = program(lazy=False)
    assert growth.verdict.kind == "clean"
    assert growth.verdict.line is None
    assert [round_[:3] for round_ in growth.rounds] == [(0, 10, 1), (10, 10, 10)]
    assert [round_.ran_at.text for round_ in growth.rounds if round_.ran_at] == [
        "sess.run(tf.global_variables_initializer())",
        "sess.run(z)",
    ]
    assert [step.after_runs for step in growth.steps] == list(range(12))
    assert growth.duplicates == []
    assert str(growth).splitlines()[:2] == [
        "10 ops added, 11 runs",
        "No op was added after the first run.",
    ]


def test_the_lazy_program() -> None:
    growth = program(lazy=True)
    verdict = growth.verdict
    assert verdict.is_lazy
    assert verdict.line is not None
    assert verdict.line.text == "sess.run(tf.add(x, y))"
    assert verdict.caught_at == verdict.line
    (line,) = verdict.lines
    assert line.runs == len(line.ops) == 10
    assert line.kinds == {"Add": 10}
    assert line.ran_at == verdict.line
    assert line.twins == 9
    (group,) = growth.duplicates
    assert str(group) == "10 x Add: Add, Add_1, ..., Add_9"
    number = verdict.line.line
    assert str(verdict).splitlines() == [
        f"Lazy loading: line {number} adds 1 op to the graph at every run.",
        "Build it once, before the loop: `op = tf.add(x, y)`. "
        "In the loop only run it: `sess.run(op)`.",
        "Put `graph.finalize()` before the loop: the program would have stopped with a "
        f"RuntimeError at line {number}, the first time round.",
    ]
    assert "10 x Add: Add, Add_1, ..., Add_9, all like Add" in str(growth)


def test_finalize_stops_at_the_line_that_the_verdict_names() -> None:
    def loop(sess: tf.Session, w: tf.Variable) -> None:
        for _ in range(4):
            loss = tf.square(w * 3.0 - 6.0)
            gradient = tf.gradients(loss, w)[0]
            sess.run(w.assign_sub(0.05 * gradient))

    def run(finalize: bool) -> Growth:
        graph = tf.Graph()
        with graph.as_default(), tf.Session() as sess, watch_growth(graph) as growth:
            w = tf.Variable(0.0, name="w")
            sess.run(tf.global_variables_initializer())
            if finalize:
                graph.finalize()
            loop(sess, w)
        return growth

    verdict = run(finalize=False).verdict
    assert verdict.line is not None  # builds most: the backward pass
    assert "tf.gradients" in verdict.line.text
    with pytest.raises(RuntimeError, match="finalized") as caught:
        run(finalize=True)
    places = [(str(entry.path), entry.lineno + 1) for entry in caught.traceback]
    assert verdict.caught_at is not None
    assert verdict.caught_at[:2] in places


def test_a_loop_without_a_run_before_it() -> None:
    graph = tf.Graph()
    with graph.as_default(), tf.Session() as sess, watch_growth(graph) as growth:
        x = tf.constant(2.0)
        for _ in range(2):
            sess.run(tf.add(x, 1.0))
    assert growth.verdict.is_lazy
    assert [str(group) for group in growth.duplicates] == [
        "2 x Const: Add/y, Add_1/y",
        "2 x Add: Add, Add_1",
    ]


def test_a_chain_that_grows_with_each_run() -> None:
    graph = tf.Graph()
    with graph.as_default(), tf.Session() as sess, watch_growth(graph) as growth:
        one = x = tf.constant(1.0)
        for _ in range(3):
            x = tf.add(x, one)
            sess.run(x)
    assert growth.duplicates == []
    assert growth.verdict.is_lazy
    assert "Build it once: move this line" in growth.verdict.fix()


def test_building_in_parts_is_late_but_not_lazy() -> None:
    graph = tf.Graph()

    def dense(x: tf.Tensor) -> tf.Tensor:
        return tf.nn.relu(x)

    with graph.as_default(), tf.Session() as sess, watch_growth(graph) as growth:
        a = dense(tf.constant(1.0))
        sess.run(a)
        b = dense(a)
        sess.run(b)
        c = dense(b)
        sess.run(c)
    verdict = growth.verdict
    assert verdict.kind == "late"
    assert verdict.late == 2
    assert "no lazy loading" in str(growth)
    assert "finalize" in verdict.fix()


def test_a_property_is_the_culprit() -> None:
    class Model:
        def __init__(self) -> None:
            self.x = tf.placeholder(tf.float32, [])

        @property
        def loss(self) -> tf.Tensor:
            return tf.square(self.x)

    graph = tf.Graph()
    with graph.as_default(), tf.Session() as sess, watch_growth(graph) as growth:
        model = Model()
        for step in range(3):
            sess.run(model.loss, {model.x: step})
    verdict = growth.verdict
    assert verdict.line is not None
    assert verdict.line.function == "loss"
    assert verdict.fix().startswith("`loss` builds each time it is used")


def test_what_holds_state_is_not_the_same_for_looking_alike() -> None:
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        with watch_growth(graph) as growth:
            x, y = [tf.placeholder(tf.float32, name=n) for n in "xy"]
            tf.square(x)
            tf.square(y)
            assert growth.duplicates == []
            for _ in range(3):
                sess.run(tf.random_uniform([2]))
        groups = growth.duplicates
    assert "3 x RandomUniform" in {str(group).partition(":")[0] for group in groups}
    assert not any(group.type in ("Placeholder", "Square") for group in groups)


def test_a_loop_built_again_is_found() -> None:
    with tf.Graph().as_default() as graph:
        for _ in range(2):
            tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
        tf.while_loop(lambda i: i < 4, lambda i: i + 1, [0])
    twins = Twins(graph)
    twins.read(graph.version, 0)
    ops = graph.get_operations()
    new = [op.name for op, first in zip(ops, twins.first, strict=True)
           if first == op.node_id - 1]  # fmt: skip
    assert not [name for name in new if name.startswith("while_1")]
    assert "while_2/Less" in new
    assert "while_2/Enter" not in new


def test_a_long_training_takes_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tfteach.explain.building.growth.MOST_STRETCHES", 4)
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x = tf.constant(1.0)
        with watch_growth(graph) as growth:
            for _ in range(10):
                sess.run(x)
                sess.run(x)  # from another line
            for _ in range(3):
                sess.run(tf.add(x, x))
    assert growth.runs == 23
    assert [round_.runs for round_ in growth.rounds] == [1, 1, 1, 17, 1, 1, 1]
    assert len(growth.steps) == 24
    assert growth.verdict.is_lazy
    assert growth.verdict.lines[0].runs == 3


def test_several_lines_are_moved_together() -> None:
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x = tf.constant(1.0)
        with watch_growth(graph) as growth:
            for _ in range(3):
                y = tf.square(x)
                z = tf.add(y, x)
                sess.run(z)
    assert growth.verdict.fix().startswith("Build it once: move these 2 lines before")
    assert growth.verdict.caught_at is not None
    assert growth.verdict.caught_at.text == "y = tf.square(x)"


def test_sizes_are_those_of_the_graph_def() -> None:
    growth = program(lazy=True)
    versions = 5  # bytes that say which TensorFlow's format this is
    assert growth.size_bytes() + versions == growth.graph.as_graph_def().ByteSize()
    sizes = [step.size_bytes for step in growth.steps]
    assert sizes == sorted(sizes)
    assert len(set(sizes)) == 11
    with tf.Graph().as_default() as graph, watch_growth(graph) as growth:
        tf.constant(np.ones([1000]), name="large")
    size = graph.as_graph_def().ByteSize()
    assert growth.size_bytes() == pytest.approx(size, abs=20)
    assert [size_text(n) for n in (67, 1037, 2.5e6)] == ["67 bytes", "1.0 kB", "2.5 MB"]


def test_watching_what_was_there_before() -> None:
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x = tf.constant(1.0)
        y = tf.add(x, x)
        with watch_growth(graph) as growth:
            sess.run(y)
            assert growth.round_of(y.op) == -1
            z = tf.add(x, x)
            assert growth.round_of(z.op) == 1
        tf.add(x, x)
    assert growth.ops_after == 3
    assert [group.names for group in growth.duplicates] == [["Add", "Add_1"]]
    assert growth.verdict.kind == "late"


@pytest.mark.parametrize(
    ("text", "built"),
    [
        ("value = sess.run(tf.add(x, y), feed)", "tf.add(x, y)"),
        ("sess.run(x + 1)", "x + 1"),
        ("(x * 2).eval()", "x * 2"),
        ("sess.run(z)", None),
        ("for _ in range(3): sess.run(", None),
    ],
)
def test_what_a_line_builds(text: str, built: str | None) -> None:
    assert built_in_run(text) == built


def test_a_line_of_every_turn_is_caught_before_one_of_every_third() -> None:
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x = tf.Variable([1.0, 2.0], name="x")
        with watch_growth(graph) as growth:
            sess.run(x.initializer)
            for step in range(8):
                sess.run(x.read_value() > 0.5)
                sess.run(x)
                if step % 3 == 0:
                    sess.run(tf.norm(x))
    assert len(growth.verdict.lines) == 2
    assert growth.verdict.caught_at is not None
    assert growth.verdict.caught_at.text == "sess.run(x.read_value() > 0.5)"


def batches(values: list[object], *, inside: bool = False) -> Growth:
    """Each round multiplies another value into the graph."""
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        w = tf.ones([2, 2], name="w")
        with watch_growth(graph) as growth:

            def product(value: object) -> tf.Tensor:
                return tf.matmul(value, w)

            for value in values:
                sess.run(product(value) if inside else tf.matmul(value, w))
    return growth


@pytest.mark.parametrize("inside", [False, True])
def test_data_that_change_are_to_be_fed_not_built_once(inside: bool) -> None:
    growth = batches(
        [np.full([3 + i // 2, 2], i, np.float32) for i in range(4)], inside=inside
    )
    fix = growth.verdict.fix()
    assert fix.startswith("Its data change from run to run")
    assert "`data = tf.placeholder(tf.float32, [None, 2])`" in fix
    assert "feed_dict={data: values}" in fix
    assert "Build it once" not in fix
    (line,) = growth.verdict.lines
    assert [op.type for op in line.data] == ["Const"] * 3


def test_the_same_data_again_are_to_be_built_once() -> None:
    growth = batches([np.ones([3, 2], np.float32)] * 4)
    assert growth.verdict.lines[0].data == ()
    assert growth.verdict.fix().startswith("Build it once: move")


def test_a_counter_that_enters_the_graph_is_data() -> None:
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x = tf.constant(1)
        with watch_growth(graph) as growth:
            for i in range(5):
                sess.run(tf.add(x, i))
    assert "`data = tf.placeholder(tf.int32, [])`" in growth.verdict.fix()
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x = tf.constant(1)
        with watch_growth(graph) as growth:
            for _ in range(5):
                sess.run(tf.add(tf.add(x, 2), 3))
    assert growth.verdict.lines[0].data == ()
