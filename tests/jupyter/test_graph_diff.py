from __future__ import annotations

import pytest

import tfteach as tf
from tfteach.jupyter import GraphDiff


def build(more: bool) -> tf.Graph:
    with tf.Graph().as_default() as graph:
        with tf.name_scope("s"):
            a = tf.constant(1.0, name="a")
            if more:
                a = tf.square(a, name="b")
        tf.add(a, a, name="c")
    return graph


def test_what_goes_to_the_page() -> None:
    view = GraphDiff(build(False), build(True))
    state = view.get_state()
    assert [row[0] for row in state["_before"]["rows"]] == ["s/a", "c"]
    assert [row[0] for row in state["_ops"]["rows"]] == ["s/a", "s/b", "c"]
    assert state["_changes"] == {"c": ["input 0: s/a -> s/b", "input 1: s/a -> s/b"]}
    assert state["_summary"] == "1 op added, 0 removed, 1 changed, 1 the same"
    assert state["expanded"] == ["s/"]
    assert repr(view) == "GraphDiff(1 op added, 0 removed, 1 changed, 1 the same)"


def test_options_and_graph_defs() -> None:
    before, after = (build(more).as_graph_def() for more in (False, True))
    view = GraphDiff(before, after, expanded=(), fetches="c")
    assert view.expanded == []
    assert view.fetches == ["c"]


def test_it_stays_as_it_was() -> None:
    after = build(True)
    view = GraphDiff(build(False), after)
    with after.as_default():
        tf.constant(2.0, name="later")
    view.refresh()
    assert len(view.get_state()["_ops"]["rows"]) == 3


def test_the_still_picture_has_colours_and_words() -> None:
    view = GraphDiff(build(False), build(True))
    bundle = view.static_bundle()
    assert bundle["text/plain"] == view.to_text()
    assert "+ s/b (Square)" in view.to_text()
    svg = view.to_svg()
    assert "added" in svg
    assert "changed" in svg


def test_what_is_no_graph_is_refused() -> None:
    with pytest.raises(TypeError, match="compares"):
        GraphDiff(tf.Graph(), None)
