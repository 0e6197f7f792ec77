from __future__ import annotations

from contextlib import suppress

import pytest

import tfteach as tf
from tfteach.explain.runs.pruning import explain_run
from tfteach.explain.runs.runs import watch_runs


@pytest.fixture
def graph() -> tf.Graph:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, name="x")
        a = tf.square(x, name="a")
        b = tf.add(a, 1.0, name="b")
        with tf.control_dependencies([b]):
            tf.add(b, b, name="c")
        tf.add(a, a, name="spare")
    return graph


def test_why_it_runs(graph: tf.Graph) -> None:
    why = explain_run(graph, "c", ["x:0"]).why("a")
    assert why.runs
    assert [op.name for op in why.path] == ["a", "b", "c"]
    assert str(why).splitlines() == [
        "'a' runs: the fetch 'c' depends on it",
        "  a",
        "     b",
        "        c",
    ]
    assert explain_run(graph, "c").why("c").text == "'c' runs: it is fetched"


@pytest.mark.parametrize(
    ("op", "feeds", "path", "fed", "text"),
    [
        ("x", ["x:0"], ["x"], "x:0", "'x' does not run: it is fed"),
        (
            "x",
            ["b:0"],
            ["x", "a", "b"],
            "b:0",
            "'x' does not run: 'b:0' is fed instead, on its way",
        ),
        ("spare", [], ["spare"], None, "'spare' does not run: nothing reads it"),
    ],
)
def test_why_it_does_not(
    graph: tf.Graph, op: str, feeds: list[str], path: list[str], fed: str, text: str
) -> None:
    why = explain_run(graph, "c", feeds).why(op)
    assert not why.runs
    assert [op.name for op in why.path] == path
    assert (why.fed.name if why.fed is not None else None) == fed
    assert why.text == text


def test_what_no_fetch_depends_on(graph: tf.Graph) -> None:
    why = explain_run(graph, "a").why("b")
    assert why.text == "'b' does not run: no fetch depends on it"
    with pytest.raises(KeyError, match="nothing"):
        explain_run(graph, "a").why("nothing")


def test_runs_of_any_graph_are_seen(graph: tf.Graph) -> None:
    with tf.Session(graph=graph) as session, watch_runs() as seen:
        for i in range(3):
            session.run("b:0", {"x:0": i})
        session.run(["a:0", "b"], {"x:0": 1.0})
        with tf.Graph().as_default(), tf.Session() as other:
            other.run(tf.constant(1))
    session_text = str(seen)
    assert [run.count for run in seen.runs] == [3, 1, 1]
    assert seen.total == 5
    assert session_text.startswith("run(b:0) fed x:0 x3: 3 of 6 ops run\n    line ")
    assert "session.run(" in session_text
    assert len(seen.runs[1].needs().needed) == 3


def test_nothing_is_noted_outside(graph: tf.Graph) -> None:
    with watch_runs() as seen:
        pass
    with tf.Session(graph=graph) as session:
        session.run("a", {"x:0": 1.0})
    assert str(seen) == "no Session.run"
    assert graph.observers == ()
    assert tf.Graph().observers == ()


def test_runs_that_failed_or_were_refused(graph: tf.Graph) -> None:
    session, closed = tf.Session(graph=graph), tf.Session(graph=graph)
    closed.close()
    with watch_runs() as seen:
        for value in (1.0, None, 2.0, None):
            feeds = {} if value is None else {"x:0": value}
            with suppress(tf.errors.InvalidArgumentError):
                session.run("b:0", feeds)
        for fetches, feeds in [
            ("nowhere", None),
            (["b:0", {"k": "nowhere:0", 1: tf.Graph}], None),
            ("b:0", {"x:0": "text"}),
            ("b:0", {"x": 1.0, "other:0": 1.0}),
            (None, None),
        ]:
            with suppress(TypeError, ValueError):
                session.run(fetches, feeds)
        for _ in range(2):
            with suppress(RuntimeError):
                closed.run(graph.get_tensor_by_name("b:0"))
        with suppress(RuntimeError):
            tf.Session(graph=tf.Graph()).run("b:0")
    session.close()
    rows = [(run.label, run.count, run.outcome, run.error[:44]) for run in seen.runs]
    unfed = "InvalidArgumentError: You must feed a value "
    assert rows[:2] == [
        ("b:0", 2, "3 of 6 ops run", ""),
        ("b:0", 2, "4 of 6 ops needed, failed", unfed),
    ]
    assert seen.total == 12
    assert {run.outcome for run in seen.runs[2:]} == {"refused"}
    assert [(label, error.partition(":")[0]) for label, _, _, error in rows[2:]] == [
        ("nowhere", "ValueError"),
        ("b:0, nowhere:0, " + repr(tf.Graph), "ValueError"),
        ("b:0", "ValueError"),
        ("b:0", "TypeError"),
        ("None", "TypeError"),
        ("b:0", "RuntimeError"),
        ("b:0", "RuntimeError"),
    ]
    assert [run.count for run in seen.runs[2:]] == [1, 1, 1, 1, 1, 2, 1]
    assert "run(nowhere): refused\n    ValueError: Fetch argument" in str(seen)
    assert f"run(b:0) x2: 4 of 6 ops needed, failed\n    {unfed}" in str(seen)
    with pytest.raises(ValueError, match=r"refused. ValueError: Fetch argument"):
        seen.runs[2].why("a")
    with watch_runs() as seen:
        pass
    with suppress(ValueError), tf.Session(graph=graph) as session:
        session.run("nowhere")
    assert seen.runs == []


def test_a_run_that_always_fails_has_one_row(graph: tf.Graph) -> None:
    with watch_runs() as seen, tf.Session(graph=graph) as session:
        for _ in range(3):
            with suppress(tf.errors.InvalidArgumentError):
                session.run("b:0")
    assert [(run.count, bool(run.error)) for run in seen.runs] == [(3, True)]
    assert seen.total == 3
