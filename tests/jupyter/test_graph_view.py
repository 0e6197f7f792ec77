from __future__ import annotations

import gc
import threading
import time
import weakref
from typing import Any

import pytest
import traitlets
from ipywidgets.widgets import widget

import tfteach as tf
from tests.jupyter.fixtures import golden
from tfteach.jupyter import GraphDiff, GraphView, SessionsView, graph_stream
from tfteach.jupyter.graph_stream import GrowingRows

LIVE = "application/vnd.jupyter.widget-view+json"


@pytest.fixture
def graph() -> tf.Graph:
    with tf.Graph().as_default() as graph:
        a = tf.constant(1.0, name="a")
        tf.add(a, a, name="b")
    return graph


def test_it_shows_a_graph(graph: tf.Graph) -> None:
    view = GraphView(graph, fetches="b:0", depth=2)
    assert repr(view) == "GraphView(2 ops, fetches=['b:0'])"
    assert [row[0] for row in view.get_state()["_ops"]["rows"]] == ["a", "b"]
    assert view.to_text().startswith("2 ops; 2 of 2 run for b\n")
    assert view.to_svg().startswith("<svg")


def test_the_default_graph_and_a_graph_def() -> None:
    with tf.Graph().as_default():
        tf.constant(1.0, name="only")
        assert [row.name for row in GraphView()._rows] == ["only"]
    view = GraphView(golden("while_loop"))
    assert len(view._rows) == 12


def test_a_graph_def_gets_inferred_shapes(graph: tf.Graph) -> None:
    view = GraphView(graph.as_graph_def())
    assert view._rows[1].outputs == [("float32", [])]
    assert "source" not in view._rows[1].more


def test_other_things_are_refused() -> None:
    with pytest.raises(TypeError, match=r"tf\.Graph or a GraphDef, not int"):
        GraphView(3)
    with pytest.raises(TypeError, match="not a tensor, operation or name"):
        GraphView(tf.Graph(), fetches=[3])


def test_fetches_take_tensors_operations_and_names(graph: tf.Graph) -> None:
    tensor = graph.get_tensor_by_name("b:0")
    view = GraphView(graph, fetches=[tensor, tensor.op, "a"], feeds=["a"])
    assert view.fetches == ["b:0", "b", "a"]
    assert view.feeds == ["a:0"]
    view.fetches = [tensor]
    assert view.fetches == ["b:0"]


def test_one_display_is_a_live_view_and_a_still_picture(graph: tf.Graph) -> None:
    view = GraphView(graph)
    assert set(view.live_bundle()) == {"application/vnd.jupyter.widget-view+json"}
    assert set(view.static_bundle()) == {"text/plain", "text/html", "image/svg+xml"}
    both, _ = view._repr_mimebundle_()
    assert set(both) == {*view.live_bundle(), *view.static_bundle()}
    assert str(view.model_id) not in str(view.static_bundle())  # the same every time


class Sent(list[dict[str, Any]]):
    def __call__(self, batch: dict[str, Any]) -> None:
        self.append(batch)

    @property
    def names(self) -> list[str]:
        return [row.name for batch in self for row in batch["rows"]]


def wait_for(sent: Sent, count: int) -> None:
    deadline = time.monotonic() + 60
    while len(sent.names) < count:
        assert time.monotonic() < deadline, sent.names
        time.sleep(0.01)


def where(source: Any) -> tuple[str, int, str, str]:
    return ("", 0, "", "")


def test_growth_arrives_without_being_asked_for(graph: tf.Graph) -> None:
    sent = Sent()
    rows = GrowingRows(graph, sent, where)
    with graph.as_default():
        for i in range(20):
            tf.constant(float(i), name=f"c{i}")
    wait_for(sent, 20)
    assert sent.names == [f"c{i}" for i in range(20)]
    assert sent[0]["from"] == 2
    assert len(sent) < 20  # in batches
    rows.close()
    with graph.as_default():
        tf.constant(0.0, name="late")
    time.sleep(0.12)
    assert "late" not in sent.names


def test_at_most_twenty_updates_a_second(graph: tf.Graph) -> None:
    sent = Sent()
    rows = GrowingRows(graph, sent, where)
    began = time.monotonic()
    with graph.as_default():
        while len(sent) < 4:
            tf.constant(0.0)
            time.sleep(0.001)
            assert time.monotonic() < began + 60
    rows.close()
    assert len(sent) <= 1 + 20 * (time.monotonic() - began)


def test_a_burst_goes_out_no_faster_than_the_server_takes_it(
    graph: tf.Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_stream, "BYTES_PER_S", 20_000)
    sent = Sent()
    rows = GrowingRows(graph, sent, where)
    with graph.as_default():
        for i in range(150):
            tf.constant(float(i), name=f"c{i}")
    wait_for(sent, 150)
    assert sent.names == [f"c{i}" for i in range(150)]
    assert [b["from"] for b in sent[:2]] == [2, 2 + len(sent[0]["rows"])]
    assert len(sent) > 1
    rows.close()


def test_what_changes_later_is_patched(graph: tf.Graph) -> None:
    sent = Sent()
    rows = GrowingRows(graph, sent, where)
    a, b = graph.get_operations()
    with graph.as_default():
        c = tf.constant(2.0, name="c")
    b._update_input(1, c)
    b._add_control_input(a)
    wait_for(sent, 1)
    patches = [patch for batch in sent for patch in batch["patches"]]
    assert [index for index, _ in patches] == [1]
    assert patches[0][1].inputs == [0, 0, 2, 0]
    assert patches[0][1].controls == [0]
    assert rows.rows[1].inputs == [0, 0, 2, 0]
    rows.close()


def test_runs_are_counted(graph: tf.Graph) -> None:
    view = GraphView(graph)
    with tf.Session(graph=graph) as session:
        session.run("b:0")
        session.run("b:0")
    assert view.runs == 2
    view.refresh()
    state = view.get_state()
    assert (state["_runs"], state["_first"]) == (2, 2)
    view.close()


def test_a_large_graph_sends_attributes_when_asked(
    graph: tf.Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_stream, "MOST_WITH_ATTRS", 1)
    sent = Sent()
    rows = GrowingRows(graph, sent, where)
    assert "attrs" in rows.rows[0].more
    assert "attrs" not in rows.rows[1].more
    rows.give_attributes("b")
    rows.give_attributes("b")
    rows.give_attributes("nowhere")
    assert len(sent) == 1
    assert sent[0]["patches"][0][1].more["attrs"] == {"T": "float32"}
    rows.close()


def test_the_page_that_asks_again_gets_the_grown_graph(graph: tf.Graph) -> None:
    view = GraphView(graph)
    with graph.as_default():
        tf.constant(1.0, name="later")
    view.refresh()
    assert view.get_state()["_ops"]["rows"][-1][0] == "later"
    view.close()


def test_the_graph_does_not_keep_a_listener_alive(graph: tf.Graph) -> None:
    rows = GrowingRows(graph, Sent(), where)
    gone = weakref.ref(rows)
    del rows
    gc.collect()
    assert gone() is None
    with graph.as_default():
        tf.constant(1.0)  # nobody listens, nothing breaks


def test_colours_and_figures(graph: tf.Graph) -> None:
    tensor = graph.get_tensor_by_name("b:0")
    view = GraphView(graph, colour_by="time", figures={tensor: {"time_us": 3}})
    assert view.get_state()["colour_by"] == "time"
    assert view.get_state()["figures"] == {"b": {"time_us": 3.0}}
    view.figures = {"a": {"bytes": 4}}
    assert view.figures == {"a": {"bytes": 4.0}}
    with pytest.raises(traitlets.TraitError, match="expected time_us, bytes or both"):
        view.figures = {"a": {"seconds": 4}}
    with pytest.raises(traitlets.TraitError, match="structure"):
        GraphView(graph, colour_by="mood")


def test_figures_of_a_traced_run() -> None:
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [2])
        y = tf.square(x, name="y")
        session.run(y, {x: [1, 2]}, options=options, run_metadata=metadata)
    view = GraphView(graph, figures=metadata, colour_by="memory")
    assert view.figures["y"]["bytes"] == 8
    assert view.figures["y"]["time_us"] > 0


def test_views_with_colours_of_their_own_refuse_others(graph: tf.Graph) -> None:
    view = GraphDiff(graph, graph)
    with pytest.raises(traitlets.TraitError, match="GraphDiff has colours of its own"):
        view.colour_by = "cell"
    with pytest.raises(traitlets.TraitError, match="figures is for GraphView alone"):
        GraphDiff(graph, graph, figures={"a": {"time_us": 1}})


def test_the_page_gets_its_model_when_the_view_is_displayed() -> None:
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.constant(1.0, name="a")
        view = GraphView(graph)
        print(view)
        later = tf.constant(2.0, name="later")
        sess.run(later)
        view.refresh()
        assert view.comm is None
        assert view not in widget._instances.values()
        model_id = view.live_bundle()[LIVE]["model_id"]
        assert widget._instances[model_id] is view
        assert view.live_bundle()[LIVE]["model_id"] == model_id
        state = view.get_state()
        assert [row[0] for row in state["_ops"]["rows"]] == ["a", "later"]
        assert (state["_runs"], state["_first"], state["_batches"]) == (1, 2, 0)


def test_a_closed_view_stays_closed() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        w = tf.Variable(1.0, name="w")
        view = SessionsView({"sess": sess})
        view.live_bundle()
        before = view._log
        view.close()
        sess.run(w.initializer)
        view.refresh()
        assert view._log == before
        with pytest.raises(AttributeError):
            view.live_bundle()
        assert view.comm is None


def test_no_batch_is_lost_while_a_view_connects(
    graph: tf.Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = GraphView(graph)
    flushed: list[bool] = []
    state_of = GraphView.get_state

    def slow(self: GraphView, *names: Any) -> Any:
        state = state_of(self, *names)
        flush = threading.Thread(target=view.refresh)
        flush.start()
        flush.join(0.2)
        flushed.append(not flush.is_alive())
        return state

    monkeypatch.setattr(GraphView, "get_state", slow)
    view.live_bundle()
    assert flushed == [False]  # it waits until the page can be told
