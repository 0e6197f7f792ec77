"""`Defun` against real TensorFlow 1.15: graphs, names, values, errors."""

from __future__ import annotations

import base64
import gc
import json
import weakref
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.forked_programs import Forks
from tests.golden import functions
from tests.test_golden_graphs import assert_same_nodes
from tfteach.lib.functions import defun
from tfteach.lib.functions.defun import Defun

GOLDEN = json.loads((Path(functions.__file__).parent / "functions.json").read_text())
# The functions of loops, whose descriptions are TensorFlow's own docstrings.
WRAPPERS = ("_Wrapper", "_Body", "_Cond")
every_graph = pytest.mark.parametrize(
    "function", functions.GRAPHS, ids=lambda f: f.__name__
)


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def golden_graph(function: Callable[..., Any]) -> Any:
    packed = base64.b64decode(GOLDEN[function.__name__]["graph"])
    return tf.GraphDef.FromString(zlib.decompress(packed))


def assert_values(found: Any, function: Callable[..., Any]) -> None:
    for ours, theirs in zip(found, GOLDEN[function.__name__]["values"], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-6, atol=1e-7)


@every_graph
def test_graph_and_values_equal_the_golden_ones(function: Callable[..., Any]) -> None:
    wanted = golden_graph(function)
    graph, tensors = functions.build(tf, function, Defun)
    made = graph.as_graph_def()
    assert_same_nodes(made, wanted)
    theirs = {f.signature.name: f for f in wanted.library.function}
    ours = {f.signature.name: f for f in made.library.function}
    assert ours.keys() == theirs.keys()
    for name, definition in ours.items():
        if name.endswith(WRAPPERS):
            theirs[name].signature.ClearField("description")
            definition.signature.ClearField("description")
        assert definition == theirs[name]
    pairs = [sorted(map(str, g.library.gradient)) for g in (made, wanted)]
    assert pairs[0] == pairs[1]
    assert made.versions == wanted.versions
    row = GOLDEN[function.__name__]
    assert [str(tensor.shape) for tensor in tensors] == row["shapes"]
    assert_values(functions.results(tf, graph, tensors), function)


@every_graph
def test_tensorflows_graphs_run_here(function: Callable[..., Any]) -> None:
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(golden_graph(function), name="")
        with tf.Session() as session:
            if graph.find_operation("init") is not None:
                session.run("init")
            assert_values(session.run(GOLDEN[function.__name__]["names"]), function)


RUN_THERE = """
import json, sys, tensorflow as tf
for path, names in json.loads(sys.argv[1]):
    with tf.Graph().as_default() as graph:
        with open(path, "rb") as f:
            tf.import_graph_def(tf.GraphDef.FromString(f.read()), name="")
        with tf.Session() as session:
            if "init" in [op.name for op in graph.get_operations()]:
                session.run("init")
            print(json.dumps([v.tolist() for v in session.run(names)]))
"""


@pytest.mark.oracle
def test_our_graphs_run_in_tensorflow(tensorflow: Forks, tmp_path: Path) -> None:
    rows = []
    for function in functions.GRAPHS:
        graph, tensors = functions.build(tf, function, Defun)
        path = tmp_path / function.__name__
        path.write_bytes(graph.as_graph_def().SerializeToString())
        rows.append((str(path), [t.name for t in tensors]))
    lines = tensorflow.run(RUN_THERE, json.dumps(rows)).splitlines()[-len(rows) :]
    for function, line in zip(functions.GRAPHS, lines, strict=True):
        assert_values(json.loads(line), function)


def test_properties(graph: Any) -> None:
    c = tf.constant(2.0, name="c")
    seen = []

    @Defun(tf.float32, tf.int32, noinline=True)
    def mine(x: Any, *rest: Any) -> Any:
        v = tf.get_variable("v", [])
        y = x * c * v
        seen.extend([*defun.get_extra_vars(), *defun.get_extra_inputs()])
        seen.append([t.op.type for t in defun.get_extra_args()])
        return y, tf.random_normal([])

    assert graph.functions == {}
    assert [t.name for t in mine.captured_inputs] == ["c:0", "v/read:0"]
    assert [v.name for v in seen[:3]] == ["v:0", "c:0", "v/read:0"]
    assert seen[3] == ["Placeholder"] * 2
    assert mine.declared_input_types == (tf.float32, tf.int32)
    assert [kind for _, kind in mine.stateful_ops] == ["RandomStandardNormal"]
    assert mine.grad_func_name is None
    assert mine.definition.attr["_noinline"].b
    assert [a.name for a in mine.definition.signature.input_arg][:2] == ["x", "arg1"]
    assert defun.get_extra_vars() == defun.get_extra_inputs() == []
    assert defun.get_extra_args() == []
    mine.add_to_graph(graph)
    assert list(graph._functions) == [mine.name]
    assert graph._is_function(mine.name)
    assert not graph._is_function("other")
    assert graph._get_function(mine.name).definition == mine.definition


def test_attributes_of_calls(graph: Any) -> None:
    @Defun(tf.float32, func_name="Attrs", experimental_a=1, experimental_b="b")
    def f(x: Any) -> Any:
        return x

    attrs = f.definition.attr
    assert (attrs["experimental_a"].i, attrs["experimental_b"].s) == (1, b"b")
    op = f(1.0, compiled=True, name="n").op
    assert op.name == "n"
    assert op.get_attr("_XlaCompile") is True
    assert op.get_attr("_XlaScope") == b"function_Attrs"
    with pytest.raises(
        ValueError, match="Unsupported attribute type for experimental_"
    ):
        f(1.0, experimental_a=[1])


def test_wrong_definitions(graph: Any) -> None:
    with pytest.raises(ValueError, match="function 3 must be callable"):
        Defun(tf.float32)(3)
    with pytest.raises(
        ValueError, match="fewer arguments than the number of specified"
    ):
        Defun(tf.float32)(lambda x, y: x)
    with pytest.raises(ValueError, match="argument defaults or keywords arguments are"):
        Defun(tf.float32)(lambda x=1: x)
    with pytest.raises(ValueError, match="Function <lambda> can not return None"):
        Defun(tf.float32)(lambda x: (x, None))(1.0)
    with pytest.raises(ValueError, match="shape_func produced 2 shapes for 1 outputs"):
        Defun(tf.float32, func_name="F", shape_func=lambda op: [1, 2])(lambda x: x)(1.0)
    with pytest.raises(
        ValueError, match="'<lambda>_0zkt64DYFRw' is not a valid node n"
    ):
        Defun(tf.float32)(lambda x: x)(1.0)


def test_wrong_calls(graph: Any) -> None:
    @Defun(tf.float32, func_name="One")
    def one(x: Any) -> Any:
        return x

    with pytest.raises(ValueError, match="number of arguments: 1, received: 2"):
        one(1.0, 2.0)
    with pytest.raises(ValueError, match="Unknown keyword arguments: dict_keys"):
        one(1.0, foo=3)
    message = (
        "Input 'x_0' passed int32 expected float while building NodeDef 'One' using "
        "Op<name=One; signature=x_0:float -> x:float>"
    )
    with pytest.raises(ValueError, match=message):
        one(1)
    with pytest.raises(ValueError, match="Unsupported dtypes"):
        Defun()(lambda x: x)(tf.placeholder(tf.resource))


def test_values_that_cannot_be_captured_by_value(graph: Any) -> None:
    p = tf.placeholder(tf.float32)
    r = tf.random_uniform([], name="r")
    with pytest.raises(
        ValueError, match=r"a placeholder \(name:Placeholder, type:Plac"
    ):
        Defun(tf.float32, capture_by_value=True)(lambda x: x * p)(1.0)
    with pytest.raises(
        ValueError, match=r"a stateful node \(name:r/RandomUniform, typ"
    ):
        Defun(tf.float32, capture_by_value=True)(lambda x: x * r)(1.0)
    allowed = [graph.get_operation_by_name("r/RandomUniform")]
    settings = {"capture_by_value": True, "whitelisted_stateful_ops": allowed}
    copying = Defun(tf.float32, func_name="F", **settings)(lambda x: x * r)
    assert copying(1.0).op.type == copying.name
    assert copying.captured_inputs == []


def test_variables_inside_belong_to_the_graph_around(graph: Any) -> None:
    @Defun(tf.float32)
    def f(x: Any) -> Any:
        with tf.init_scope():
            assert tf.get_default_graph() is graph
        return x * tf.Variable(3.0, name="w", use_resource=True)

    y = f(2.0)
    assert [v.name for v in tf.global_variables()] == ["w:0"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(y) == 6.0


def test_a_gradient_set_later_and_wrong_ones(graph: Any) -> None:
    @Defun(tf.float32, func_name="F")
    def f(x: Any) -> Any:
        return x * x

    @Defun(tf.float32, tf.float32, func_name="G")
    def g(x: Any, dy: Any) -> Any:
        return dy * 5.0

    f.set_grad_func(g)
    assert f.grad_func_name == "G"
    y = f(3.0)
    with tf.Session() as session:
        assert session.run(tf.gradients(y, y.op.inputs)) == [5.0]
    with pytest.raises(AssertionError):
        f.set_grad_func(g)


def test_a_graph_with_functions_is_freed() -> None:
    def make() -> list[Any]:
        with tf.Graph().as_default() as graph, tf.Session() as session:
            f = Defun(tf.float32, func_name="Freed")(lambda x: tf.tanh(x) * 2.0)
            x = tf.placeholder(tf.float32, [3])
            y = f(f(x))
            case = tf.switch_case(tf.constant(1), [lambda: y, lambda: y * 2.0])
            values = [case, *tf.gradients(case, x)]
            for _ in range(14):
                session.run(values, {x: [1.0, 2.0, 3.0]})
            bodies = [d.graph for d in graph.functions.values()]
            return [weakref.ref(each) for each in (graph, session, *bodies)]

    left = make()
    gc.collect()
    assert [each() for each in left] == [None] * len(left)


def test_import_path() -> None:
    from tfteach.compat.internals import inner

    assert inner("framework.function").Defun is Defun
