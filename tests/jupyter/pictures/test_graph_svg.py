from __future__ import annotations

import base64
import html
import re
import xml.etree.ElementTree as ElementTree

import pytest
from tensorboard.compat.proto.graph_pb2 import GraphDef

import tfteach as tf
from tests.jupyter.fixtures import golden
from tfteach.explain.graphs.graph_rows import rows_of_graph, rows_of_graph_def
from tfteach.jupyter.pictures import graph_svg
from tfteach.jupyter.pictures.graph_svg import dot_source, svg_of
from tfteach.jupyter.pictures.mime_bundle import bundle_of
from tfteach.jupyter.pictures.picture_contents import Still, text_of

HOSTILE = "<img src=x onerror=alert(1)>\"'&\\n|{}"


def still(name: str, **options: object) -> Still:
    return Still(rows_of_graph_def(golden(name)), **options)  # type: ignore[arg-type]


def test_svg_is_well_formed_and_the_same_each_time() -> None:
    graph_svg.render_dot.cache_clear()
    first = svg_of(still("linear_regression"))
    graph_svg.render_dot.cache_clear()
    assert first is not None
    assert first == svg_of(still("linear_regression"))
    root = ElementTree.fromstring(first)
    words = "".join(root.itertext())
    assert "GradientDescent" in words
    assert "set aside" in words
    assert not re.search(r"0x[0-9a-f]{6}|/tmp|Generated", first)


def test_open_scopes_are_clusters() -> None:
    source = dot_source(still("softmax_regression_adam", depth=2))
    assert source.count("labeljust=l") == 3  # model, loss, accuracy
    assert source.count("labeljust=l") > dot_source(
        still("softmax_regression_adam")
    ).count("labeljust=l")


def test_only_loops_have_edges_that_leave_the_ranks_alone() -> None:
    assert dot_source(still("while_loop", depth=2)).count("constraint=false") == 1
    with tf.Graph().as_default() as graph:
        x = tf.constant(1.0)
        square = tf.square(x)
        square.op._update_input(0, tf.identity(x))
    assert "constraint" not in dot_source(Still(rows_of_graph(graph)))


def test_a_run_is_highlighted() -> None:
    picture_of_run = still("linear_regression", fetches=["add:0"], feeds=["X:0"])
    source = dot_source(picture_of_run)
    assert "<b>fetch</b>" in source
    assert "<b>feed</b>" in source
    assert "0 of 39 run" in source
    text = text_of(picture_of_run)
    assert text.startswith("78 ops in 20 scopes; 6 of 78 run for add when X is fed\n")
    assert re.search(r"^  \* mul ", text, re.MULTILINE)
    assert re.search(r"^    loss ", text, re.MULTILINE)


def test_text_reads_like_the_code() -> None:
    text = text_of(still("while_loop", depth=2))
    assert text.splitlines()[0] == "12 ops in 3 scopes"
    assert re.search(r"i +Const 0 -> int32 scalar", text)
    assert "Merge(while/Enter, while/NextIteration)" in text


def test_bundle_has_what_every_front_end_needs() -> None:
    bundle = bundle_of(still("while_loop"))
    assert set(bundle) == {"text/plain", "image/svg+xml", "text/html"}
    data = re.search(r"data:image/svg\+xml;base64,([\w+/=]+)", bundle["text/html"])
    assert data is not None
    assert base64.b64decode(data[1]).decode() == bundle["image/svg+xml"]


def test_hostile_names_stay_names() -> None:
    graph_def = GraphDef()
    graph_def.node.add(name=HOSTILE, op="<script>", device=HOSTILE)
    graph_def.node.add(name=f"{HOSTILE}/a", op="Relu", input=[HOSTILE])
    rows = rows_of_graph_def(graph_def)
    for expanded in ([], [f"{HOSTILE}/"]):
        bundle = bundle_of(Still(rows, expanded=expanded))
        root = ElementTree.fromstring(bundle["image/svg+xml"])
        assert not [e for e in root.iter() if e.tag.endswith(("img", "script"))]
        page = re.sub(r"<style>.*?</style>", "", bundle["text/html"], flags=re.DOTALL)
        assert re.findall(r"<(\w+)", page) == ["div", "img"]


def test_without_graphviz_the_text_remains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_svg, "render_dot", lambda *_: None)
    bundle = bundle_of(still("while_loop"))
    assert set(bundle) == {"text/plain", "text/html"}
    # In a box that hides while the live view is there, like a picture.
    assert '<div class="tfteach-static"><pre>' in bundle["text/html"]
    assert html.escape(bundle["text/plain"]) in bundle["text/html"]


def test_a_drawing_that_takes_too_long_is_given_up() -> None:
    graph_svg.render_dot.cache_clear()
    assert svg_of(still("linear_regression"), timeout_s=0.001) is None
    graph_svg.render_dot.cache_clear()


def test_a_graph_too_large_for_a_picture_is_text() -> None:
    graph_def = GraphDef()
    for i in range(graph_svg.MOST_BOXES + 1):
        graph_def.node.add(name=f"n{i}", op="NoOp")
    bundle = bundle_of(Still(rows_of_graph_def(graph_def)))
    assert set(bundle) == {"text/plain", "text/html"}
    assert "... and 191 more" in bundle["text/plain"]


def test_an_empty_graph() -> None:
    bundle = bundle_of(Still([]))
    assert bundle["text/plain"] == "0 ops"
    assert "<pre>0 ops</pre>" in bundle["text/html"]
    assert set(bundle) == {"text/plain", "text/html"}


def test_a_tensor_says_its_shape_once_and_a_fan_keeps_its_order() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [3], name="x")
        for _ in range(2):
            tf.negative(x)
    assert dot_source(Still(rows_of_graph(graph))).count('" [3]"') == 1
    with graph.as_default():
        for _ in range(4):
            tf.negative(x)
    fan = dot_source(Still(rows_of_graph(graph)))
    assert '" [3]"' not in fan
    assert "ordering=out" in fan
    svg = svg_of(Still(rows_of_graph(graph))) or ""
    places = [float(x) for x in re.findall(r'<text[^>]* x="([-\d.]+)"[^>]*>Neg', svg)]
    assert places == sorted(places)
    assert len(places) == 6


def test_a_name_without_end_is_clipped() -> None:
    with tf.Graph().as_default() as graph:
        long = tf.constant(1.0, name="x" * 100_000 + "end")
        tf.negative(long, name="y")
    bundle = bundle_of(Still(rows_of_graph(graph), fetches=[long.name]))
    assert all(len(part) < 30_000 for part in bundle.values())
    assert "xxx…xxx" in bundle["text/plain"]
    assert "end" in bundle["image/svg+xml"]
