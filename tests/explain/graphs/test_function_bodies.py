"""Functions drawn as scopes of their calls: real TensorFlow 2's, and odd ones."""

from __future__ import annotations

from typing import Any

import pytest

import tfteach as tf
from tests.golden.model_files import FOLDER
from tfteach.explain.files.model_files import read_model
from tfteach.explain.graphs import function_bodies
from tfteach.explain.graphs.function_bodies import with_function_bodies
from tfteach.explain.graphs.graph_rows import rows_of_graph_def
from tfteach.framework.protos import GraphDef

FLOAT, INT = tf.float32.as_datatype_enum, tf.int32.as_datatype_enum
CALL = "StatefulPartitionedCall/StatefulPartitionedCall"


def drawn(name: str) -> dict[str, Any]:
    [graph] = read_model(FOLDER / name).graphs
    found = with_function_bodies(graph.graph_def)
    rows_of_graph_def(found)  # every input exists
    return {node.name: node for node in found.node}


def function(graph_def: Any, name: str, arguments: dict[str, int], results: int) -> Any:
    made = graph_def.library.function.add()
    made.signature.name = name
    for argument, kind in arguments.items():
        made.signature.input_arg.add(name=argument, type=kind)
    for i in range(results):
        made.signature.output_arg.add(name=f"r{i}", type=FLOAT)
        made.ret[f"r{i}"] = "op:y:0"
    made.node_def.add(name="op", op="Strange", input=list(arguments))
    return made


def test_data_flows_through_a_call() -> None:
    nodes = drawn("tf2")
    assert nodes[f"{CALL}/x"].op == "_Arg"
    assert list(nodes[f"{CALL}/x"].input) == ["StatefulPartitionedCall/x"]
    assert list(nodes["StatefulPartitionedCall/x"].input) == ["serving_default_x"]
    # the second output of TopKV2 is "indices", in a function "TopKV2:indices:0"
    [result] = [n for n in nodes.values() if "TopKV2:1" in "".join(n.input)]
    assert result.name.startswith(f"{CALL}/")
    assert f"{CALL}/identity" in nodes[CALL].input
    assert "serving_default_x" not in nodes["StatefulPartitionedCall"].input


def test_handles_of_variables_are_read_from_outside() -> None:
    nodes = drawn("tf2_calls")
    assert next(iter(nodes[f"{CALL}/Gather"].input)) == "w"
    assert not any("resource" in n.name for n in nodes.values() if n.op == "_Arg")


def test_loops_and_branches_have_a_scope_for_each_function() -> None:
    nodes = drawn("tf2_calls")
    loop, branch = nodes[f"{CALL}/while"], nodes[f"{CALL}/cond"]
    assert {name.split("/")[3] for name in loop.input} == {"body", "cond"}
    assert f"{CALL}/while/body/while/PartitionedCall/Tanh" in nodes
    # the predicate is read by the call alone, what follows by both branches
    assert f"{CALL}/Greater" in branch.input
    for part in ("then_branch", "else_branch"):
        [read] = [n for n in nodes.values() if n.name.startswith(f"{CALL}/cond/{part}/")
                  and n.op == "_Arg"]  # fmt: skip
        assert read.input[0].startswith(f"{CALL}/while")


def test_what_results_do_not_need_but_always_runs_is_a_control_input() -> None:
    graph_def = GraphDef()
    graph_def.node.add(name="call", op="f", input=["^before"])
    graph_def.node.add(name="before", op="NoOp")
    made = function(graph_def, "f", {}, results=1)
    made.node_def.add(name="print", op="PrintV2")
    made.control_ret["op"] = "op"
    made.control_ret["print"] = "print"
    call = with_function_bodies(graph_def).node[0]
    assert list(call.input) == ["call/r0", "^call/print", "^before"]


def test_arguments_are_the_last_inputs_of_the_same_type() -> None:
    graph_def = GraphDef()
    graph_def.node.add(name="set", op="Const").attr["dtype"].type = INT
    graph_def.node.add(name="x", op="Const").attr["dtype"].type = FLOAT
    function(graph_def, "f", {"element": FLOAT, "captured": FLOAT}, results=1)
    call = graph_def.node.add(name="map", op="Mapped", input=["set", "x"])
    call.attr["f"].func.name = "f"
    nodes = {node.name: node for node in with_function_bodies(graph_def).node}
    assert list(nodes["map/captured"].input) == ["x"]
    assert not nodes["map/element"].input  # "set" has another type
    assert list(nodes["map"].input) == ["map/r0", "set"]


def test_functions_that_no_op_calls_stand_apart() -> None:
    graph_def = GraphDef()
    graph_def.node.add(name="functions", op="NoOp")
    function(graph_def, "inner", {}, results=0)
    outer = function(graph_def, "outer", {}, results=0)
    outer.node_def.add(name="call", op="inner")
    names = [node.name for node in with_function_bodies(graph_def).node]
    assert names == [
        "functions",
        "functions_1/outer/op",
        "functions_1/outer/call",
        "functions_1/outer/call/op",
    ]


def test_recursion_is_opened_once() -> None:
    graph_def = GraphDef()
    graph_def.node.add(name="a", op="f")
    made = function(graph_def, "f", {}, results=0)
    made.node_def.add(name="again", op="f")
    names = [node.name for node in with_function_bodies(graph_def).node]
    assert names == ["a", "a/op", "a/again"]


def test_a_scope_that_is_taken_gets_another_name() -> None:
    graph_def = GraphDef()
    for name in ("a", "a/b", "a/function/c"):
        graph_def.node.add(name=name, op="f" if name == "a" else "NoOp")
    function(graph_def, "f", {}, results=0)
    assert with_function_bodies(graph_def).node[3].name == "a/function_1/op"


def test_calls_stay_closed_once_the_picture_is_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(function_bodies, "MOST_OPS", 4)
    graph_def = GraphDef()
    for name in "abcd":
        graph_def.node.add(name=name, op="f")
    function(graph_def, "f", {}, results=0)
    names = [node.name for node in with_function_bodies(graph_def).node]
    assert names == ["a", "b", "c", "d", "a/op"]


def test_a_list_of_branches_is_numbered() -> None:
    graph_def = GraphDef()
    case = graph_def.node.add(name="case", op="Case")
    for name in "fg":
        function(graph_def, name, {}, results=1)
        case.attr["branches"].list.func.add().name = name
    call = with_function_bodies(graph_def).node[0]
    assert list(call.input) == ["case/branches_0/r0", "case/branches_1/r0"]
