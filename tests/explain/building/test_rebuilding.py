"""Graphs and sessions that a program makes again and again, and those that it keeps."""

from __future__ import annotations

import gc
import threading
import warnings
import weakref
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tfteach.explain.building.graph_lives import milliseconds
from tfteach.explain.building.graph_log import GraphLog, restores, watch_graphs
from tfteach.explain.building.graph_tracks import MOST_TRACKS, tracks_of
from tfteach.explain.building.rebuilding import families_of, findings_of


def predict(batch: Any) -> Any:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.constant(batch, name="x")
        w = tf.Variable([[1.0], [2.0]], name="w")
        y = tf.matmul(x, w, name="y")
        sess.run(tf.global_variables_initializer())
        return sess.run(y)


FIRST_LINE = predict.__code__.co_firstlineno + 1


def rebuilt(calls: int = 5) -> GraphLog:
    with watch_graphs() as log:
        for i in range(calls):
            predict(np.full([3, 2], i, np.float32))
    return log


def kept(calls: int = 5) -> GraphLog:
    with watch_graphs() as log:
        graph = tf.Graph()
        with graph.as_default():
            x = tf.placeholder(tf.float32, [None, 2], name="x")
            w = tf.Variable([[1.0], [2.0]], name="w")
            y = tf.matmul(x, w, name="y")
            init = tf.global_variables_initializer()
        sess = tf.Session(graph=graph)
        sess.run(init)
        for i in range(calls):
            sess.run(y, {x: [[float(i), 1.0]]})
        sess.close()
    return log


def test_a_function_that_builds_in_every_call() -> None:
    log = rebuilt()
    assert [life.ops_built for life in log.graphs] == [7] * 5
    assert [session.runs for session in log.sessions] == [1] * 5
    assert {session.end for session in log.sessions} == {"closed"}
    (family,) = families_of(log.graphs)
    assert family.is_equal
    verdict = log.verdict
    assert verdict.kind == "rebuilt"
    assert verdict.line is not None
    assert (verdict.line.line, verdict.line.function) == (FIRST_LINE, "predict")
    assert verdict.headline() == (
        f"Rebuilt: line {FIRST_LINE} made 5 graphs of the same 7 ops, and 5 sessions, "
        "for 5 runs."
    )
    cost = verdict.cost()
    assert cost.startswith(
        "35 ops built where 7 do, 5 sessions opened, variables initialized 5 times, "
        "10 programs compiled: "
    )
    fix = verdict.fix()
    assert "once, outside `predict`" in fix
    assert f"line {FIRST_LINE + 1}, `x = tf.constant(batch" in fix  # it embeds data
    assert str(log).startswith("5 graphs, 5 sessions\n  graphs 1, 2, 3, ..., 5 (line")


def test_the_outline_of_the_cure_is_a_program() -> None:
    code = rebuilt().verdict.code()
    compile(code, "cure", "exec")
    assert "x = tf.placeholder(tf.float32, [3, 2])  # not x = tf.constant(batch" in code
    assert "def predict(batch):\n    return sess.run(y, {x: batch})" in code


def test_batches_of_different_sizes() -> None:
    def stacked(batch: Any) -> Any:
        with tf.Graph().as_default(), tf.Session() as sess:
            x = tf.constant(batch)
            for _ in range(len(batch)):
                x = tf.negative(x)
            return sess.run(x)

    with watch_graphs() as log:
        for size in (1, 2, 3):
            stacked(np.ones([size, 4], np.float32))
    (family,) = families_of(log.graphs)
    assert not family.is_equal
    assert "3 graphs of 2 to 4 ops from the same lines" in log.verdict.headline()
    assert "x = tf.placeholder(tf.float32, [None, 4])" in log.verdict.code()


def test_a_graph_and_a_session_that_are_kept() -> None:
    log = kept()
    assert log.verdict.kind == "clean"
    assert not log.verdict.is_waste
    (life,) = log.graphs
    (session,) = life.sessions
    assert life.runs == session.runs == 5
    # one to initialize; the fed run is compiled once, and cached from then on
    assert dict(session.time.counts) == {
        "open": 1,
        "compile": 2,
        "initialize": 1,
        "run": 5,
    }
    assert [ops for ops, _, _ in life.rounds] == [7, 7]
    assert log.verdict.fix() == log.verdict.cost() == log.verdict.code() == ""


def test_what_is_measured_adds_up() -> None:
    log = rebuilt(3)
    for life in log.graphs:
        spans = [*life.time.spans, *life.sessions[0].time.spans]
        assert all(span.ended_s >= span.began_s for span in spans)
        seconds = sum(span.ended_s - span.began_s for span in spans)
        kinds = ["build", "open", "compile", "initialize", "run"]
        assert life.seconds(*kinds) == pytest.approx(seconds)  # type: ignore[arg-type]
        assert all(life.seconds(kind) > 0 for kind in kinds)  # type: ignore[arg-type]
    tracks, total_ms, left_out = tracks_of(log.graphs)
    assert left_out == 0
    assert [track.graph for track in tracks] == [1, 2, 3]
    ends = [track.to_ms for track in tracks]
    assert ends == sorted(ends)
    assert ends[-1] == pytest.approx(total_ms)
    for track in tracks:
        assert track.text.startswith(f"graph {track.graph}: 7 ops built; session ")


def test_the_default_graph_reset_in_a_loop() -> None:
    with watch_graphs() as log:
        for i in range(4):
            tf.reset_default_graph()
            x = tf.placeholder(tf.float32, [], name="x")
            y = tf.square(x)
            with tf.Session() as sess:
                sess.run(y, {x: float(i)})
    tf.reset_default_graph()
    verdict = log.verdict
    assert verdict.kind == "rebuilt"
    assert "4 default graphs of the same 2 ops" in verdict.headline()
    assert "before the loop" in verdict.fix()
    assert "Leave out the tf.reset_default_graph()" in verdict.fix()
    assert "for batch in batches:" in verdict.code()


def test_a_session_opened_for_every_run() -> None:
    with tf.Graph().as_default() as graph:
        w = tf.Variable(1.0, name="w")
        init = tf.global_variables_initializer()
    with watch_graphs() as log:
        for _ in range(4):
            with tf.Session(graph=graph) as sess:
                sess.run(init)
                sess.run(w)
    (life,) = log.graphs
    assert (life.ops_built, life.made_at) == (0, None)
    verdict = log.verdict
    assert verdict.kind == "reopened"
    assert verdict.line is not None
    assert verdict.line.text == "with tf.Session(graph=graph) as sess:"
    assert verdict.cost().startswith(
        "4 sessions opened, variables initialized 4 times, 8 programs compiled: "
    )
    assert "4 sessions, each opened, variables initialized, 1 run, closed" in str(log)
    assert "sess = tf.Session(graph=graph)\nsess.run(init)\n" in verdict.code()


def test_an_interactive_session_that_is_never_closed() -> None:
    with tf.Graph().as_default(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # TensorFlow warns as well
        with watch_graphs() as log:
            first = tf.InteractiveSession()
            x = tf.square(2.0)
            x.eval()
        assert log.verdict.kind == "clean"
        with watch_graphs() as log:
            second = tf.InteractiveSession()
            x.eval()
        first.close()
        second.close()
    assert log.verdict.kind == "unclosed"
    assert log.verdict.line is not None
    assert log.verdict.line.text == "second = tf.InteractiveSession()"
    assert "sess.close()" in log.verdict.fix()


def test_a_session_that_is_dropped() -> None:
    with tf.Graph().as_default(), watch_graphs() as log:
        x = tf.constant(1.0)
        for _ in range(3):
            tf.Session().run(x)
        gc.collect()
    assert {session.end for session in log.sessions} == {"dropped"}
    assert "3 sessions never closed" in log.verdict.cost()


def test_graphs_that_are_meant_to_be_several() -> None:
    def train(rate: float) -> None:
        with tf.Graph().as_default(), tf.Session() as sess:
            w = tf.Variable(1.0)
            step = tf.train.GradientDescentOptimizer(rate).minimize(tf.square(w))
            sess.run(tf.global_variables_initializer())
            for _ in range(10):
                sess.run(step)

    with watch_graphs() as log:
        for rate in (0.1, 0.2, 0.3):
            train(rate)
    verdict = log.verdict
    assert verdict.kind == "repeated"
    assert not verdict.is_waste
    assert verdict.headline().endswith("ops, each run 10 times.")
    assert verdict.fix() == ""
    with watch_graphs() as log:
        predict([[1.0, 2.0]])
        predict([[1.0, 2.0]])
    assert log.verdict.kind == "repeated"  # twice may well be wanted


def test_graphs_of_different_lines_are_no_family() -> None:
    with watch_graphs() as log:
        for build in (tf.square, tf.negative, tf.exp):
            with tf.Graph().as_default(), tf.Session() as sess:
                if build is tf.square:
                    y = tf.square(1.0)
                elif build is tf.negative:
                    y = tf.negative(1.0)
                else:
                    y = tf.exp(1.0)
                sess.run(y)
    assert len(families_of(log.graphs)) == 3
    assert log.verdict.kind == "clean"
    assert sorted(log.growths) == [1, 2, 3]


def test_a_run_that_restores_is_told_from_one_that_initializes() -> None:
    with tf.Graph().as_default() as graph:
        tf.Variable(0.0, name="w")
        init = tf.global_variables_initializer()
        saver = tf.train.Saver()
    restore = graph.get_operation_by_name(saver.saver_def.restore_op_name)
    assert restores([restore])
    assert not restores([init])


def test_no_graph_is_kept_alive_but_the_first_of_a_family() -> None:
    alive: list[weakref.ref[tf.Graph]] = []

    def build() -> None:
        with tf.Graph().as_default() as graph, tf.Session() as sess:
            alive.append(weakref.ref(graph))
            sess.run(tf.square(1.0))

    with watch_graphs() as log:
        for _ in range(4):
            build()
    gc.collect()
    assert [graph() is not None for graph in alive] == [True, False, False, False]
    assert log.verdict.kind == "rebuilt"
    assert log.main[1].graph is alive[0]()
    assert [life.number for life in log.copies_of(log.graphs[0])] == [2, 3, 4]


def test_a_graph_half_built_belongs_to_its_family() -> None:
    seen: list[int] = []
    with watch_graphs() as log:
        for _ in range(3):
            with tf.Graph().as_default(), tf.Session() as sess:
                x = tf.constant(1.0)
                seen.append(len(families_of(log.graphs)))
                sess.run(tf.square(x))
    assert seen == [1, 1, 1]


def test_other_threads_and_closed_logs() -> None:
    with watch_graphs() as log:
        thread = threading.Thread(target=predict, args=([[1.0, 2.0]],))
        thread.start()
        thread.join()
    assert log.graphs == []
    assert str(log) == "0 graphs, 0 sessions"
    with pytest.raises(ValueError, match="no graph was built"):
        _ = log.main
    log = rebuilt(3)
    text = str(log)
    predict([[1.0, 2.0]])
    assert str(log) == text


def test_times_have_two_figures() -> None:
    texts = [milliseconds(seconds) for seconds in (4e-5, 0.0012, 0.12, 12.0)]
    assert texts == ["0.04 ms", "1.2 ms", "120 ms", "12,000 ms"]


def test_many_tracks_are_counted() -> None:
    calls = MOST_TRACKS + 5
    log = rebuilt(calls)
    tracks, _, left_out = tracks_of(log.graphs)
    assert (len(tracks), left_out) == (MOST_TRACKS, 5)
    assert f"built {calls} times" == log.verdict.sign()


def test_the_worst_finding_comes_first() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.constant(1.0)
    with watch_graphs() as log:
        for _ in range(3):
            with tf.Session(graph=graph) as sess:
                sess.run(x)
        for _ in range(3):
            predict([[1.0, 2.0]])
    kinds = [finding.kind for finding in findings_of(log.graphs)]
    assert kinds == ["rebuilt", "reopened"]
