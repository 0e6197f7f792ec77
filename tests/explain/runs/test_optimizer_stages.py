from __future__ import annotations

from collections.abc import Iterator

import pytest

import tfteach as tf
from tfteach.explain.runs.optimizer_stages import stages_of
from tfteach.explain.runs.optimizing import explain_optimizing


@pytest.fixture
def session() -> Iterator[tf.Session]:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2048, 2048], name="x")
        two = tf.sqrt(tf.constant(4.0, name="four"), name="two")
        y = tf.multiply(x, two, name="y")
        again = tf.multiply(x, two, name="again")
        z = tf.tanh(tf.add(y, again, name="sum"), name="z")
        for name in "uvw":
            z = tf.square(z, name=name)
        with tf.Session() as session:
            yield session


def test_stages_are_whole_graphs(session: tf.Session) -> None:
    log = explain_optimizing(session, "w", ["x"])
    stages = stages_of(log, session.graph)
    assert [s.done.name for s in stages.passes] == ["all", *log.names]
    for rows in stages.rows:
        names = [row.name for row in rows]
        assert len(set(names)) == len(names)
        for row in rows:
            assert all(0 <= i < len(rows) for i in (*row.inputs[::2], *row.controls))
    first = {row.name: row for row in stages.rows[stages.passes[0].before]}
    assert first["x"].type == "Placeholder"  # fed: no node of the step
    assert first["x"].outputs == [("float32", [2048, 2048])]
    assert first["two"].type == "Sqrt"


def test_what_changed_and_why(session: tf.Session) -> None:
    stages = stages_of(explain_optimizing(session, "w", ["x"]), session.graph)
    by_name = {staged.done.name: staged for staged in stages.passes}
    same = by_name["remove_identities"]
    assert same.before == same.after
    assert same.changes == same.reasons == {}
    folded = by_name["fold_constants"]
    assert stages.fetched[folded.after] == ["w"]
    assert folded.changes == {"two": ["Sqrt: now the constant 2"]}
    assert folded.reasons == {"two": ["all its inputs are constant"]}
    after = {row.name: row for row in stages.rows[folded.after]}
    assert (after["two"].type, after["two"].more["value"]) == ("Const", "2")
    merged = by_name["merge_duplicates"]
    assert merged.changes == {"again": [], "sum": ["input 1: again -> y"]}
    whole = by_name["all"]
    assert whole.changes["two"] == ["Sqrt: now the constant 2"]
    last = {row.name: row for row in stages.rows[whole.after]}
    assert last["two"].type == "Const"
    assert whole.reasons["again"] == [
        "merge_duplicates: computes the same as y",
        "remove_dead: nothing needs its value",
    ]


def test_a_fused_kernel_takes_what_its_parts_took(session: tf.Session) -> None:
    log = explain_optimizing(session, "w", ["x"])
    stages = stages_of(log, session.graph)
    fusion = stages.passes[-1]
    if not fusion.done.changes:
        pytest.skip("not worth it with this number of cores")
    (kernel,) = log["fusion"].after
    assert set(kernel.inputs) == {"x:0", "two"}
    names = [row.name for row in stages.rows[fusion.after]]
    assert sorted(names) == ["two", "w", "x"]
    assert fusion.changes["w"][0].startswith("type: Square -> fused Mul + ")


def test_no_pass_no_stage() -> None:
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.opt_level = -1
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        log = explain_optimizing(session, tf.constant(1.0))
        assert stages_of(log, session.graph).passes == []
        with pytest.raises(ValueError, match="switch every pass off"):
            _ = log.whole
