from __future__ import annotations

import pytest

import tfteach as tf
from tfteach.jupyter import GraphView, explore


@pytest.fixture
def graph() -> tf.Graph:
    with tf.Graph().as_default() as graph:
        v = tf.get_variable("v", initializer=1.0)
        tf.add(v, 1.0, name="out")
    return graph


def test_tabs_of_a_graph_and_of_a_session(graph: tf.Graph) -> None:
    assert list(explore(graph.as_graph_def()).views) == ["Graph", "Run"]
    for target in (graph, graph.get_tensor_by_name("out:0")):
        assert list(explore(target).views) == [
            "Graph", "Run", "Schedule", "Growth", "Sharing", "Collections",
        ]  # fmt: skip
    with tf.Session(graph=graph) as session:
        panel = explore(session, fetches="out")
        assert panel.titles == (
            "Graph", "Run", "Schedule", "Step", "Placement", "Sessions",
            "Optimizer", "Growth", "Sharing", "Collections", "Timeline", "Memory",
        )  # fmt: skip
        assert explore().views.keys() == panel.views.keys()
    assert panel.views["Run"].fetches == ["out"]
    panel.close()


def test_views_are_made_when_their_tabs_open(graph: tf.Graph) -> None:
    with tf.Session(graph=graph) as session:
        panel = explore(session)
        assert list(panel.views.made) == ["Graph"]
        panel.views["Graph"].fetches = ["out:0"]
        panel.selected_index = panel.titles.index("Placement")
        assert list(panel.views.made) == ["Graph", "Placement"]
        assert panel.views["Placement"].fetches == ["out:0"]
        assert panel.children[4].children == (panel.views["Placement"],)
    session.close()
    panel.selected_index = panel.titles.index("Sharing")
    assert panel.views["Sharing"].sharing.summary.startswith("1 variable, ")
    panel.selected_index = panel.titles.index("Collections")
    assert panel.views["Collections"].graph is graph
    panel.selected_index = at = panel.titles.index("Memory")
    assert "No run has been traced" in panel.children[at].children[0].value
    panel.close()
    assert not graph.observers


def test_what_cannot_be_made_is_said(graph: tf.Graph) -> None:
    panel = explore(graph, run_metadata="nonsense")
    panel.selected_index = panel.titles.index("Timeline")
    (words,) = panel.children[panel.selected_index].children
    assert "TypeError: TimelineView shows a tf.RunMetadata" in words.value


def test_traced_runs_are_shown(graph: tf.Graph) -> None:
    with tf.Session(graph=graph) as session:
        session.run("v/Assign")
        panel = explore(session)
        for title in ("Timeline", "Memory"):
            panel.selected_index = panel.titles.index(title)
        panel.trace("out:0", runs=2)
        shown = panel.views["Timeline"]
        assert "out" in [op.name for op in shown.times.ops]
        assert panel.children[panel.selected_index].children == (panel.views["Memory"],)
        full = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        metadata = tf.RunMetadata()
        session.run("v/read:0", options=full, run_metadata=metadata)
        session.run("out:0")  # not traced
        panel._at_cell_end()
        assert panel.views["Timeline"] is not shown
        assert shown.comm is not None  # the page may still be making it
        panel._at_cell_end()
        assert shown.comm is None
        assert "out" not in [op.name for op in panel.views["Timeline"].times.ops]
        with pytest.raises(ValueError, match="Nothing is fetched"):
            panel.trace()
    with pytest.raises(ValueError, match="no session"):
        explore(graph).trace("out:0")
    given = explore(graph, run_metadata=metadata)
    assert given.titles[-2:] == ("Timeline", "Memory")
    assert given.views["Timeline"].times.ops


def test_a_run_to_step_through(graph: tf.Graph) -> None:
    with tf.Session(graph=graph) as session:
        session.run("v/Assign")
        panel = explore(session, fetches="v:0")
        panel.selected_index = panel.titles.index("Step")
        (words,) = panel.children[panel.selected_index].children
        assert "panel.step(loss" in words.value
        panel.step("out:0")
        (view,) = panel.children[panel.selected_index].children
        assert "out" in [step.op for step in view.run]
        assert view.fetches == ["out:0"]  # not what the panel fetches
        assert [link.source[1] for link in panel._links] == ["selected"]


def test_what_is_shared(graph: tf.Graph) -> None:
    panel = explore(graph)
    panel.selected_index = 1
    linked = {(link.source[1], type(link.target[0]).__name__) for link in panel._links}
    assert linked == {(name, "RunView") for name in ("selected", "fetches", "feeds")}


def test_the_still_picture_is_the_graphs(graph: tf.Graph) -> None:
    assert explore(graph).static_bundle() == GraphView(graph).static_bundle()
    assert list(explore(graph).live_bundle()) == [
        "application/vnd.jupyter.widget-view+json"
    ]
