"""What is drawn first, and what beside it, of models of TensorFlow 2."""

from __future__ import annotations

from typing import Any

import tfteach as tf
from tests.golden.model_files import FOLDER
from tfteach.explain.files.model_files import read_model
from tfteach.explain.files.serving_ops import (
    beside_outputs,
    calls_that_compute,
    ends_of_bodies,
    switches,
)
from tfteach.explain.graphs.function_bodies import with_function_bodies
from tfteach.framework.protos import GraphDef


def graph_of(**inputs: str) -> Any:
    graph_def = GraphDef()
    for name, read in inputs.items():
        op = "Placeholder" if name.startswith("x") else "Strange"
        node = graph_def.node.add(name=name.replace("__", "/"), op=op)
        node.input.extend(each.replace("__", "/") for each in read.split())
    return graph_def


def test_the_saver_of_a_real_model_stands_beside() -> None:
    [graph] = read_model(FOLDER / "tf2_calls").graphs
    [signature] = graph.signatures
    [output] = [tensor.op for tensor in signature.outputs]
    names = [node.name for node in with_function_bodies(graph.graph_def).node]
    opened = calls_that_compute(names, [output])
    assert opened == [
        "StatefulPartitionedCall",
        "StatefulPartitionedCall/StatefulPartitionedCall",
    ]
    beside = beside_outputs(graph.graph_def, [output])
    assert {"saver_filename", "StatefulPartitionedCall_2"} <= set(beside)
    shown = {node.name.partition("/")[0] for node in graph.graph_def.node} - set(beside)
    assert {"w", "hash_table", "serving_default_text", output[:-2]} <= shown


def test_many_variables_stand_beside_but_not_what_is_fed() -> None:
    many = {f"v{i}": "" for i in range(40)}
    graph_def = graph_of(**many, x="", call=" ".join([*many, "x"]), other="x")
    assert beside_outputs(graph_def, ["call:0"]) == [*many, "other"]
    few = graph_of(v0="", x="", call="v0 x ^v1", v1="", other="x")
    assert beside_outputs(few, ["call:0"]) == ["other"]


def test_a_call_of_one_scope_opens_it_unless_it_is_large() -> None:
    names = ["a", "a/x", "a/model/b", "a/model/c", "a/model/c/d"]
    assert calls_that_compute(names, ["a:1"]) == ["a", "a/model"]
    large = [*names, *(f"a/model/layer_{i}" for i in range(40))]
    assert calls_that_compute(large, ["a"]) == ["a"]
    wide = [
        *names,
        *(f"a/arg_{i}" for i in range(12)),
        *(f"a/model/{i}" for i in range(30)),
    ]
    assert calls_that_compute(wide, ["a"]) == ["a"]
    assert calls_that_compute(["a", "a/x/y", "a/z/y", "a/w"], ["a"]) == ["a"]
    assert calls_that_compute(["a", "b"], ["a", "c"]) == []


def test_a_scalar_that_all_layers_read_is_a_switch() -> None:
    graph_def = graph_of(
        **{f"layer{i}__op": "xphase x" for i in range(30)}, xphase="", x=""
    )
    phase, x = graph_def.node[30:]
    phase.attr["shape"].shape.SetInParent()
    x.attr["shape"].shape.dim.add(size=3)
    assert switches(graph_def) == ["xphase"]
    assert switches(graph_of(**{f"layer{i}__op": "xphase" for i in range(9)})) == []
    with tf.Graph().as_default() as graph:
        tf.placeholder(tf.float32, [], name="alone")
    assert switches(graph.as_graph_def()) == []


def test_an_op_that_waits_for_all_layers_is_the_end_of_a_body() -> None:
    layers = {f"f__layer{i}__read": "" for i in range(20)}
    waits = " ".join(f"^{name}" for name in layers)
    graph_def = graph_of(
        **layers, f__end=waits, f__sum=waits, near="^f__layer0__read " * 30
    )
    for node in graph_def.node:
        if node.name in ("f/end", "near"):
            node.op = "NoOp"
    assert ends_of_bodies(graph_def) == ["f/end"]
