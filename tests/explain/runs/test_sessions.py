from __future__ import annotations

import gc
from collections.abc import Iterator

import numpy as np
import pytest

import tfteach as tf
from tfteach.engine.session.session import open_sessions
from tfteach.explain.runs.sessions import SessionLog, describe, state_of, words


@pytest.fixture(params=[False, True], ids=["ref", "resource"])
def graph(request: pytest.FixtureRequest) -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph:
        w = tf.get_variable(
            "w",
            [2],
            initializer=tf.ones_initializer(),
            use_resource=request.param,
        )
        tf.get_variable(
            "big", [100], initializer=tf.zeros_initializer(), use_resource=request.param
        )
        tf.identity(w, name="read")
        w.assign(w * 3.0, name="triple")
        tf.group(w.initializer, name="init_w")
        yield graph


def test_each_session_has_its_own(graph: tf.Graph) -> None:
    with tf.Session() as a, tf.Session() as b:
        log = SessionLog(graph, {"a": a, "b": b})
        a.run("init_w")
        with pytest.raises(tf.errors.FailedPreconditionError):
            b.run("read:0")
        a.run("triple")
        assert [words(s["w"]) for s in log.states().values()] == [
            "[3, 3]",
            "uninitialized",
        ]
        log.close()
        a.run("triple")
        text = str(log)
    first, second, third = log.runs
    assert (first.session, first.fetches) == ("a", ("init_w",))
    assert [str(c) for c in first.changes] == ["w: uninitialized -> [1, 1]"]
    assert second.session == "b"
    assert second.error.startswith("FailedPreconditionError: ")
    assert second.changes == ()
    assert [str(c) for c in third.changes] == ["w: [1, 1] -> [3, 3]"]
    assert third.source is not None
    assert third.source.text == 'a.run("triple")'
    lines = text.splitlines()
    assert lines[0] == f"2 sessions on one graph of {graph.version} ops"
    assert lines[1].split() == ["a", "b"]
    assert lines[2].split(maxsplit=1) == ["w", "[9, 9]         uninitialized"]
    assert lines[4] == "1. a.run(init_w)  w: uninitialized -> [1, 1]"


def test_sessions_that_come_later_join_in(graph: tf.Graph) -> None:
    log = SessionLog(graph, {})
    with tf.Session() as session:
        session.run("init_w")
        session.run("read:0")
        name = f"session {session.number}"
        assert log.runs[1].changes == ()
        assert "no variable changed" in str(log.runs[1])
        session.make_callable("triple")()  # is seen with the next run
        session.run("read:0")
    assert list(log.sessions) == [name]
    assert log.start[name] == {"big": None, "w": None}
    assert [str(c) for c in log.runs[2].changes] == ["w: [1, 1] -> [3, 3]"]


def test_old_runs_become_the_start(
    graph: tf.Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tfteach.explain.runs.sessions.MOST_RUNS", 2)
    with tf.Session() as session:
        log = SessionLog(graph, {"s": session})
        for fetch in ("init_w", "triple", "triple", "triple"):
            session.run(fetch)
        assert log.forgotten == 2
        assert words(log.start["s"]["w"]) == "[3, 3]"
        assert [str(c) for c in log.runs[0].changes] == ["w: [3, 3] -> [9, 9]"]


def test_values_in_words() -> None:
    assert describe(np.float32(2.5)).text == "2.5"
    assert describe(np.arange(8.0)).text == "8, mean 3.5, 0 to 7"
    assert describe(np.array([np.inf, -np.inf] * 4)).text == "8, mean nan, -inf to inf"
    assert describe(np.zeros((0, 3), np.float32)).text == "[]"
    assert describe(np.array([b"a"], object)).text == "['a']"
    one, other = np.zeros((50, 50), np.float32), np.zeros((50, 50), np.float32)
    assert describe(one) == describe(other)
    other[3, 4] = 1e-30
    assert describe(one) != describe(other)
    assert describe(np.float32("nan")) == describe(np.float32("nan"))


def test_watching_neither_holds_nor_changes_arrays(graph: tf.Graph) -> None:
    with tf.Session() as session:
        session.run("init_w")
        before = session.run("read:0")
        state_of(session)
        assert (session.run("read:0") == before).all()
        log = SessionLog(graph, {"s": session})
        session.run("triple")
        log.close()
        assert not graph.observers


def test_open_sessions(graph: tf.Graph) -> None:
    gc.collect()
    with tf.Session() as a, tf.Session() as b, tf.Session(graph=tf.Graph()):
        assert open_sessions(graph) == [a, b]
        assert a.number < b.number
    assert open_sessions(graph) == []


def test_a_closed_session_is_called_so() -> None:
    with tf.Graph().as_default() as graph:
        tf.Variable(1.0, name="v")
    first, second = tf.Session(graph=graph), tf.Session(graph=graph)
    log = SessionLog(graph, {"first": first, "second": second})
    second.close()
    assert str(log).splitlines()[1].split() == ["first", "second", "(closed)"]
    log.close()
    first.close()
