"""Runs that are folded away: what magics and views say, and how they unfold them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

import tfteach as tf
import tfteach.jupyter as tfj
from tests.jupyter.test_magics import run, shell  # noqa: F401
from tfteach.explain.profiling.timing import times_of
from tfteach.explain.runs.runs import watch_runs
from tfteach.jupyter import GraphView, RunView, TimelineView

BUILD = """
with tf.Graph().as_default() as graph:
    a = tf.constant([1.0, 2.0], name="a")
    b = tf.constant([3.0, 4.0], name="b")
    c = tf.multiply(a, b, name="c")
sess = tf.Session(graph=graph)
"""
WERE = "All 3 ops were computed once, when the run was compiled: constants only."
ARE = WERE.replace("were", "are").replace("was", "is")
UNFOLDED = "Unfolded: every op runs. The session itself leaves out all of them."


@pytest.fixture
def built(shell: Any) -> Iterator[Any]:  # noqa: F811
    assert run(shell, BUILD).success
    yield shell
    shell.user_ns["sess"].close()


@pytest.mark.parametrize(
    ("magic", "said", "seen"),
    [
        ("%step c {}", WERE, "2  c  Mul"),
        ("%timeline c --runs 1 {}", WERE, "Mul        1"),
        ("%placement c {}", ARE, "3 ops: 3 on CPU:0"),
        ("%schedule c {}", ARE, "1. a, b"),
        ("%%run {}\nsess.run(c);", WERE, "3 of 3 ops run"),
    ],
)
def test_each_magic_says_so_and_shows_the_run_unfolded(
    built: Any, capsys: Any, magic: str, said: str, seen: str
) -> None:
    assert run(built, magic.format("--text")).success
    out = capsys.readouterr().out
    assert said in out
    assert "--unfolded in a magic" in out
    assert run(built, magic.format("--text --unfolded")).success
    out = capsys.readouterr().out
    assert UNFOLDED in out
    assert seen in out
    assert said not in out


def test_why(built: Any, capsys: Any) -> None:
    def why(line: str) -> str:
        assert run(built, f"%why {line}").success
        return str(capsys.readouterr().out)

    assert why("c --fetch c").startswith(
        "'c' is needed: it is fetched. It is computed once, when the run is compiled: "
        "all its inputs are constant."
    )
    assert why("c --fetch c --session sess").startswith("'c' is needed")
    assert why("c --fetch c --unfolded").startswith("'c' runs: it is fetched")
    run(built, "%%run --text\nsess.run(c);")
    capsys.readouterr()
    assert "It was computed once" in why("a")
    assert why("a --unfolded").startswith("'a' runs")
    run(built, "%%run --text --unfolded\nsess.run(c);")
    capsys.readouterr()
    assert why("a").startswith("'a' runs")


def test_the_optimizer_has_both(built: Any, capsys: Any) -> None:
    assert run(built, "%optimizing c --text").success
    assert capsys.readouterr().out.startswith(
        f"{ARE} Unfolded, the run is the graph before all passes.\n"
    )
    assert run(built, "%optimizing c --text --unfolded").success
    said, summary, *rest = capsys.readouterr().out.splitlines()
    assert said == UNFOLDED
    assert summary == "1 op asked for, 1 kernel called"
    assert "every op runs" in "".join(rest)


def test_a_graph_says_that_a_session_would_run_nothing(built: Any, capsys: Any) -> None:
    assert run(built, "%graph graph --fetch c --text").success
    assert ARE in capsys.readouterr().out
    assert run(built, "%graph graph --fetch c --feed a --text").success
    assert "constants only" not in capsys.readouterr().out
    cell = "%%graph --session sess --fetch d --text\nd = tf.add(c, c, name='d')"
    assert run(built, cell).success
    assert "All 4 ops are computed once" in capsys.readouterr().out
    built.user_ns["sess"].close()
    assert run(built, "%graph graph --fetch c --text").success
    assert ARE not in capsys.readouterr().out


@pytest.fixture
def counter() -> Iterator[tuple[Any, Any, Any]]:
    """A session with a variable, and an op that adds 2 * 3."""
    with tf.Graph().as_default():
        v = tf.Variable(0.0, name="v")
        up = tf.assign_add(v, tf.multiply(2.0, 3.0, name="six"), name="up")
        with tf.Session() as session:
            session.run(v.initializer)
            yield session, v, up


def test_a_view_of_steps_runs_again_when_asked(counter: tuple[Any, Any, Any]) -> None:
    session, v, up = counter
    view = tfj.StepView.of(session, up)
    assert session.run(v) == 6.0
    assert view._folded["button"] == "Run again, unfolded"
    assert view._folded["about"] == "This runs it once more: changes v."
    assert view._fates["six"] == ["folded", "all its inputs are constant"]
    shown = view._shown
    view.unfolded = True
    assert session.run(v) == 12.0
    assert "six" in [step.op for step in view.run]
    assert view._folded["button"] == "Show as the session runs it"
    assert view._fates == {}
    assert view._shown == shown + 1
    for unfolded in (False, True):  # both are known by now
        view.unfolded = unfolded
        assert view.run.unfolded is unfolded
    assert session.run(v) == 12.0


def test_a_timeline_says_how_often_it_runs(counter: tuple[Any, Any, Any]) -> None:
    session, v, up = counter
    view = tfj.TimelineView.of(session, up, runs=2, unfolded=True)
    assert session.run(v) == 18.0  # one to warm up
    assert view._folded["about"] == "This runs it 3 times more: changes v."
    view.unfolded = False
    assert session.run(v) == 36.0
    assert [op.name for op in view.times.ops] == ["up"]
    view.unfolded = True
    assert "six" in [op.name for op in view.times.ops]


def test_a_closed_session_cannot_run_again() -> None:
    with tf.Graph().as_default():
        y = tf.add(2.0, 5.0, name="y")
        with tf.Session() as session:
            views = [view.of(session, y) for view in (tfj.StepView, tfj.TimelineView)]
    for view in views:
        view.unfolded = True
        assert view.unfolded is False
        assert "It cannot run again: Attempted to use a closed" in view._folded["about"]


def test_views_that_run_nothing_offer_no_button() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        y = tf.add(2.0, 5.0, name="y")
        recorded = tfj.StepView.of(session, y).run
        assert tfj.StepView(recorded)._folded["button"] == ""
        assert "--unfolded" in tfj.StepView(recorded)._folded["text"]
        metadata = tf.RunMetadata()
        trace = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        session.run(y, options=trace, run_metadata=metadata)
        view = tfj.TimelineView(metadata)
        assert view._folded["text"].startswith("Constants are computed once")
        assert times_of(metadata).ops == ()
        x = tf.placeholder(tf.float32, name="x")
        session.run(x * 2.0, {x: 1.0}, options=trace, run_metadata=metadata)
        assert tfj.TimelineView(metadata)._folded == {}


def test_the_kernel_answers_the_page() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        view = tfj.PlacementView(session, [tf.add(1.0, 2.0)])
        view._asked = 7
        assert view._heard == 7


def test_plans_turn_without_running(counter: tuple[Any, Any, Any]) -> None:
    session, v, up = counter
    for view in (
        tfj.PlacementView(session, [up], unfolded=True),
        tfj.ScheduleView(session, [up], unfolded=True),
        tfj.RunView(up.graph, [up], session=session, unfolded=True),
    ):
        assert view._folded["unfolded"] is True
        assert view._folded["text"].endswith("leaves out 3 of 5.")
        view.unfolded = False
        assert view._folded["text"].startswith("Of 5 ops 3 are computed once")
        assert view._folded["button"] == "Show unfolded"
        view.fetches = [v.op.name]
        assert view._folded == {}
    assert session.run(v) == 0.0


def test_a_view_of_runs_has_each_with_what_was_folded(
    counter: tuple[Any, Any, Any],
) -> None:
    session, v, up = counter
    with watch_runs() as seen:
        session.run(v)
        session.run(up)
    view = tfj.RunView(runs=seen)
    assert view._folded == {}
    view.fetches, view.chosen = [up.name], 1
    assert view._fates["six/x"] == ["folded", "a constant"]
    assert view._folded["text"].startswith("Of 5 ops 3 were computed once")
    assert "up:0: 5 of 8 ops needed\n  Of 5 ops 3 were" in view.to_text()
    assert "It was computed once" in str(view.why("six"))
    view.unfolded = True
    assert view.why("six").folded == ""
    guess = tfj.RunView(up.graph, [up], predict=True, session=session)
    assert "computed once" not in guess.to_text()  # the answer
    assert guess.still().paint is None


def test_a_panel_passes_it_on(counter: tuple[Any, Any, Any]) -> None:
    session, v, up = counter
    panel = tfj.explore(session)
    panel.step(up, unfolded=True)
    panel.trace(up, runs=1)
    assert session.run(v) == 18.0
    step, timeline = panel.views["Step"], panel.views["Timeline"]
    assert step.unfolded
    timeline.unfolded = True
    assert session.run(v) == 30.0
    panel._at_cell_end()  # the traced run is in its view already
    assert panel.views["Timeline"] is timeline
    panel.close()


def test_converted_pages_say_what_was_folded() -> None:
    """Where only the picture is left: nbconvert, GitHub."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        product = tf.multiply(tf.constant(2.0), 3.0, name="product")
        session.run(product)
        said = "computed once"
        pictures = [
            RunView(graph, [product]).static_bundle()["image/svg+xml"],
            TimelineView.of(session, product).static_bundle()["text/html"],
        ]
        for picture in pictures:
            assert said in picture.replace("</text>", "")
            assert "unfolded=True" in picture
        hidden = RunView(graph, [product], predict=True).static_bundle()
        assert said not in hidden["image/svg+xml"]
        x = tf.placeholder(tf.float32, [], name="x")
        timed = TimelineView.of(session, x + 1.0, {x: 1.0}).static_bundle()
        assert "<pre>" not in timed["text/html"]


def test_marks_stand_inside_their_boxes() -> None:
    """Graphviz puts labels beside boxes on top of lines."""
    with tf.Graph().as_default() as graph:
        product = tf.multiply(tf.constant(2.0), 3.0, name="product")
        svg = GraphView(graph, fetches=[product]).static_bundle()["image/svg+xml"]
    lines = [line for line in svg.splitlines() if "<text" in line]
    at = {
        word: float(re.search(r'\bx="([-\d.]+)"', line)[1])  # type: ignore[index]
        for line in lines
        for word in ("fetch", "product")
        if f">{word}<" in line
    }
    assert at["fetch"] > at["product"]  # the shorter word begins farther right
