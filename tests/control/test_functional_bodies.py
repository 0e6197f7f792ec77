"""If, Case, While and For nodes: graphs of TensorFlow 1.15's control flow version 2."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.golden import function_control_flow
from tfteach.framework.function_attribute import Function
from tfteach.framework.functions.defined_function import DefinedFunction
from tfteach.framework.functions.func_graph import FuncGraph
from tfteach.ops.functions.calls import StatefulPartitionedCall
from tfteach.ops.functions.control_flow import (
    Case,
    FakeParam,
    For,
    If,
    StatelessIf,
    StatelessWhile,
    While,
)

PATH = Path(function_control_flow.__file__).with_suffix(".json")
GOLDEN = json.loads(PATH.read_text())
FLOAT = tf.float32


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def define(name: str, dtypes: Any, function: Callable[..., Any]) -> Function:
    body = FuncGraph(name)
    with body.as_default():
        inputs = [body.add_input(dtype, None) for dtype in dtypes]
        body.outputs = list(map(tf.convert_to_tensor, function(*inputs)))
    DefinedFunction(name, body).add_to_graph(tf.get_default_graph())
    return Function(name)


@pytest.mark.parametrize("name", GOLDEN)
def test_tensorflows_graphs_run_here(name: str) -> None:
    row = GOLDEN[name]
    data = zlib.decompress(base64.b64decode(row["graph"]))
    graph_def = tf.GraphDef.FromString(data)
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.import_graph_def(graph_def, name="")
        for turn in range(15):  # also as specialized programs
            if turn in (0, 14):
                session.run("init")
            found = session.run(row["names"])
            if turn in (0, 14):
                for ours, theirs in zip(found, row["values"], strict=True):
                    np.testing.assert_allclose(ours, theirs, rtol=1e-5)
        assert len(graph.functions) == len(graph_def.library.function)


@pytest.mark.parametrize(
    ("value", "taken"),
    [
        (True, True),
        (False, False),
        (2, True),
        (0.0, False),
        ("a", True),
        ("", False),
        ([0.0], True),
        (np.zeros([0, 2], np.float32), False),
    ],
)
@pytest.mark.parametrize("static", [True, False])
def test_what_counts_as_true(graph: Any, value: Any, taken: bool, static: bool) -> None:
    yes = define("yes", [FLOAT], lambda x: [x + 1.0])
    no = define("no", [FLOAT], lambda x: [x - 1.0])
    given = tf.convert_to_tensor(value)
    if not static and given.shape.ndims == 0:
        given = tf.placeholder_with_default(given, None)
        given.set_shape([])
    found = If((FLOAT,), (FLOAT,), yes, no)(given, [10.0])
    again = StatelessIf((FLOAT,), (FLOAT,), yes, no, ((),))(given, [10.0])
    assert again[0].shape.as_list() == []
    with tf.Session() as session:
        assert session.run([found[0], again[0]]) == [11.0 if taken else 9.0] * 2


def test_only_the_branch_that_is_taken_runs(graph: Any) -> None:
    v = tf.get_variable("v", initializer=0.0, use_resource=True)

    def count(by: float) -> Callable[..., Any]:
        def add(handle: Any) -> Any:
            with tf.control_dependencies([v.assign_add(by)]):
                return [tf.constant(by)]

        return add

    functions = tuple(
        define(f"f{k}", [], lambda k=k: count(k)(v)) for k in (1.0, 2.0, 4.0)
    )
    index = tf.placeholder(tf.int32, [])
    case = Case((tf.resource,), (FLOAT,), functions)(index, [v.handle])
    with tf.Session() as session:
        session.run(v.initializer)
        found = [session.run(case, {index: k})[0] for k in (0, 1, 2, 9, -1)]
        assert found == [1.0, 2.0, 4.0, 4.0, 4.0]
        assert session.run(v) == 15.0


def test_loops_of_functions(graph: Any) -> None:
    less = define("less", [tf.int32, FLOAT], lambda i, x: [i < 4])
    step = define("step", [tf.int32, FLOAT], lambda i, x: [i + 1, x])
    grow = define("grow", [tf.int32, FLOAT], lambda i, x: [i + 1, tf.concat([x, x], 0)])
    kinds = (tf.int32, FLOAT)
    x = tf.constant([1.5])
    same = While(kinds, less, step)([0, x])
    longer = StatelessWhile(kinds, less, grow, ((), (None,)))([0, x])
    never = StatelessWhile(kinds, less, grow)([7, x])
    sums = define("sums", [tf.int32, FLOAT], lambda i, x: [x + tf.cast(i, FLOAT)])
    total = For((FLOAT,), sums)(1, 7, 2, [0.5])
    down = For((FLOAT,), sums)(3, 0, -1, [0.0])
    with tf.Session() as session:
        assert [v.tolist() for v in session.run(same)] == [4, [1.5]]
        assert session.run(longer[1]).tolist() == [1.5] * 16
        assert [v.tolist() for v in session.run(never)] == [7, [1.5]]
        assert session.run([total[0], down[0]]) == [9.5, 6.0]


def test_a_function_that_calls_itself(graph: Any) -> None:
    """Factorial, by a function whose branch calls it."""
    library = """
    function {
      signature { name: "Factorial" input_arg { name: "n" type: DT_FLOAT }
        output_arg { name: "y" type: DT_FLOAT } is_stateful: true }
      node_def { name: "if" op: "If" input: "n" input: "n"
        attr { key: "Tcond" value { type: DT_FLOAT } }
        attr { key: "Tin" value { list { type: DT_FLOAT } } }
        attr { key: "Tout" value { list { type: DT_FLOAT } } }
        attr { key: "then_branch" value { func { name: "Step" } } }
        attr { key: "else_branch" value { func { name: "One" } } } }
      ret { key: "y" value: "if:output:0" } }
    function {
      signature { name: "Step" input_arg { name: "n" type: DT_FLOAT }
        output_arg { name: "y" type: DT_FLOAT } is_stateful: true }
      node_def { name: "one" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
        attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape {}
          float_val: 1 } } } }
      node_def { name: "less" op: "Sub" input: "n" input: "one:output:0"
        attr { key: "T" value { type: DT_FLOAT } } }
      node_def { name: "rest" op: "Factorial" input: "less:z:0" }
      node_def { name: "mul" op: "Mul" input: "n" input: "rest:y:0"
        attr { key: "T" value { type: DT_FLOAT } } }
      ret { key: "y" value: "mul:z:0" } }
    function {
      signature { name: "One" input_arg { name: "n" type: DT_FLOAT }
        output_arg { name: "y" type: DT_FLOAT } }
      node_def { name: "one" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
        attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape {}
          float_val: 1 } } } }
      ret { key: "y" value: "one:output:0" } }
    """
    from google.protobuf import text_format

    graph_def = tf.GraphDef()
    text_format.Parse(library, graph_def.library)
    tf.import_graph_def(graph_def, name="")
    n = tf.placeholder(FLOAT, [])
    call = StatefulPartitionedCall((FLOAT,), (FLOAT,), "Factorial")([n])
    with tf.Session() as session:
        for value in (0.0, 1.0, 5.0):
            expected = np.prod(np.arange(1.0, value + 1))
            assert session.run(call, {n: value})[0] == expected


def test_a_parameter_that_is_not_used(graph: Any) -> None:
    made = FakeParam(FLOAT, (2, None))(name="fake")
    assert made.shape.as_list() == [2, None]
    with tf.Session() as session:
        assert session.run(made).shape == (2, 0)


def test_missing_functions(graph: Any) -> None:
    made = If((), (FLOAT,), "yes", "no")(True, [])
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.NotFoundError, match="Function yes is not defined"),
    ):
        session.run(made)
