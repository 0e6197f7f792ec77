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


def test_a_graph_has_two_tabs_and_a_session_four(graph: tf.Graph) -> None:
    for target in (graph, graph.as_graph_def(), graph.get_tensor_by_name("out:0")):
        assert list(explore(target).views) == ["Graph", "Run"]
    with tf.Session(graph=graph) as session:
        panel = explore(session, fetches="out")
        assert panel.titles == ("Graph", "Run", "Placement", "Sessions")
        assert explore().views.keys() == panel.views.keys()
    assert panel.views["Run"].fetches == ["out"]
    panel.close()


def test_what_is_shared(graph: tf.Graph) -> None:
    panel = explore(graph)
    linked = {(link.source[1], type(link.target[0]).__name__) for link in panel._links}
    assert linked == {(name, "RunView") for name in ("selected", "fetches", "feeds")}


def test_the_still_picture_is_the_graphs(graph: tf.Graph) -> None:
    assert explore(graph).static_bundle() == GraphView(graph).static_bundle()
    assert list(explore(graph).live_bundle()) == [
        "application/vnd.jupyter.widget-view+json"
    ]
