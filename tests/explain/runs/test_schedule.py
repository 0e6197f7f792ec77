from __future__ import annotations

import pytest

import tfteach as tf
from tfteach.explain.runs.schedule import explain_schedule


@pytest.fixture(params=[False, True], ids=["ref", "resource"])
def graph(request: pytest.FixtureRequest) -> tf.Graph:
    with tf.Graph().as_default() as graph:
        w = tf.get_variable(
            "w", [], initializer=tf.ones_initializer(), use_resource=request.param
        )
        five = tf.constant(5.0, name="five")
        write = w.assign(five, read_value=False) if request.param else w.assign(five)
        tf.group(write, name="write")
        tf.add(w.read_value() if request.param else w, 1.0, name="sum")
        with tf.control_dependencies([write]):
            tf.add(w.read_value(), 2.0, name="after")
    return graph


def test_a_race_has_two_legal_orders(graph: tf.Graph) -> None:
    found = explain_schedule(graph, ["sum", "write"])
    (race,) = found.races
    assert race.variable == "w"
    assert race.reads
    for order, is_first in ((race.one_order, True), (race.other_order, False)):
        assert sorted(order) == sorted(found.order)
        assert (order.index(race.first) < order.index(race.second)) == is_first
        place = {name: i for i, name in enumerate(order)}
        for op in map(graph.get_operation_by_name, order):
            assert all(place[t.op.name] < place[op.name] for t in op.inputs)
    assert found.order.index(race.first) < found.order.index(race.second)
    text = " ".join(str(found).split())  # lines are broken anywhere
    assert "sees the old value" in text
    assert "sees the new value" in text
    assert "nothing says which comes first" in text


def test_a_control_dependency_decides(graph: tf.Graph) -> None:
    found = explain_schedule(graph, "after")
    assert found.races == ()
    (pair,) = found.ordered
    assert any(op.control for op in found.ops)
    assert pair.variable == "w"
    assert found.order.index(pair.first) < found.order.index(pair.second)
    assert "Control dependencies remove these races" in str(found)
    assert "No races." in str(found)


def test_ready_sets() -> None:
    with tf.Graph().as_default() as graph:
        a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
        c = tf.add(a, b, name="c")
        tf.add(c, a, name="d")
        tf.exp(b, name="e")
    found = explain_schedule(graph, ["d", "e"])
    assert found.ready_sets == (("a", "b"), ("c", "e"), ("d",))
    assert str(found).startswith(
        "5 ops in 3 ready sets, at most 2 at a time\n  1. a, b"
    )
    assert "Races" not in str(found)
    assert found.ops[3][1:] == ("Add", ("c", "a"), ())
    with pytest.raises(KeyError):
        explain_schedule(graph, "nothing")


def test_loops_have_an_order() -> None:
    with tf.Graph().as_default() as graph:
        i = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)])
    found = explain_schedule(graph, i)
    assert sorted(n for each in found.ready_sets for n in each) == sorted(found.order)


def test_what_a_loop_reads_comes_before_what_takes_its_result() -> None:
    with tf.Graph().as_default() as graph:
        w = tf.get_variable("w", [], initializer=tf.ones_initializer())
        _, total = tf.while_loop(
            lambda i, _: i < 3, lambda i, t: (i + 1, t + w), [tf.constant(0), 0.0]
        )
        write = w.assign(total)
        found = explain_schedule(graph, [total, write])
        apart = explain_schedule(graph, [total, w.assign(5.0)])
    assert found.races == ()
    place = {name: i for i, name in enumerate(found.order)}
    assert all(place[n] < place[op.name] for op in found.ops for n in op.inputs)
    assert place["while/NextIteration_1"] < place["while/Exit_1"]
    assert [race.first for race in apart.races] == ["w/read"]


def test_many_races_in_a_long_run() -> None:
    with tf.Graph().as_default() as graph:
        total, writes = tf.constant(0.0), []
        for i in range(60):
            w = tf.get_variable(f"w{i}", [], initializer=tf.ones_initializer())
            for _ in range(10):
                total = tf.add(total, w)
            writes.append(w.assign(2.0))
        found = explain_schedule(graph, [total, *writes])
    assert len(found.races) == 60
    assert len(found.races[19].one_order) == len(found.order)
    start, end, (one, other) = found.races[19].differing()
    assert one[0] != other[0]
    assert "..." in one
    assert {"w19/read", "Assign_19"} <= {*one}
    assert start + end < len(found.order)
    assert found.races[20].one_order == ()
    assert found.races[20].differing() == (0, 0, [[], []])
    assert "\n" not in str(found.races[20])


def test_an_op_behind_a_write_reads_again() -> None:
    """As it does when it runs; `v/read`, which nobody else takes, has no part in it."""
    with tf.Graph().as_default() as graph:
        v = tf.Variable(0.0, name="v")
        u = tf.assign_add(v, 1.0, name="u")
        with tf.control_dependencies([u]):
            tf.divide(v, 2.0, name="half")
        tf.multiply(v, 10.0, name="old")
    found = explain_schedule(graph, "half")
    assert found.races == ()
    assert [(pair.first, pair.second) for pair in found.ordered] == [("u", "v/read")]
    assert found.ready_sets == (
        ("v", "u/value"),
        ("u",),
        ("half/y",),
        ("v/read",),
        ("half",),
    )
    both = explain_schedule(graph, ["half", "old"])
    assert len(set(both.order)) == len(both.order)
    [race] = both.races
    assert (race.first, race.second) == ("v/read", "u")
    assert [(pair.first, pair.second) for pair in both.ordered] == [
        ("u", "v/read again")
    ]
    with tf.Session(graph=graph) as session:
        session.run("v/Assign")
        assert session.run(["half:0", "old:0"]) == [0.5, 0.0]


def test_the_words_fit_a_terminal() -> None:
    with tf.Graph().as_default() as graph:
        v = tf.Variable(0.0, name="a_variable_of_a_long_name")
        sums = [tf.add(v, float(i), name=f"sum_number_{i}") for i in range(9)]
        write = v.assign(3.0)
    text = str(explain_schedule(graph, [*sums, write]))
    assert max(map(len, text.splitlines())) < 80
    assert all(tensor.op.name in text for tensor in sums)
