"""Loops, their gradients and TensorArrays against real TensorFlow 1.15."""

import base64
import json
import zlib
from pathlib import Path

import numpy as np
import pytest

import tfteach as tf
from tests.golden import loop_functions, loop_nesting, loops
from tests.test_golden_graphs import assert_same_nodes
from tfteach.ops.core.loop_stacks import StackCloseV2, StackPopV2, StackPushV2, StackV2
from tfteach.ops.state.tensor_array_ops import TensorArrayReadV3

GOLDEN = json.loads((Path(loops.__file__).parent / "loops.json").read_text())
GRAPHS = loops.GRAPHS + loop_nesting.GRAPHS + loop_functions.GRAPHS


@pytest.mark.filterwarnings("ignore:Converting sparse IndexedSlices")
@pytest.mark.parametrize("function", GRAPHS, ids=lambda f: f.__name__)
def test_graph_and_values_equal_the_golden_ones(function):
    row = GOLDEN[function.__name__]
    packed = zlib.decompress(base64.b64decode(row["graph"]))
    wanted = tf.GraphDef.FromString(packed)
    graph, tensors = loops.build(tf, function)
    made = graph.as_graph_def()
    assert_same_nodes(made, wanted)
    assert [str(tensor.shape) for tensor in tensors] == row["shapes"]
    for ours, theirs in zip(
        loops.results(tf, graph, tensors), row["values"], strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize(
    "function",
    [loop_nesting.nested_cond, loop_nesting.in_loop_rnn, loop_functions.scan_cond_ta],
    ids=lambda f: f.__name__,
)
def test_imported_gradients_of_loops_run(function):
    graph, tensors = loops.build(tf, function)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(graph.as_graph_def(), name="copy")
        found = session.run(["copy/" + tensor.name for tensor in tensors])
    for ours, theirs in zip(found, GOLDEN[function.__name__]["values"], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-6)


def test_all_golden_graphs_are_compared():
    assert {f.__name__ for f in GRAPHS} == GOLDEN.keys()


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


# ---- gradients


def test_shapes_that_change_from_run_to_run(session):
    x = tf.placeholder(tf.float32, [None, 3])
    n = tf.placeholder(tf.int32, [])
    y = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * x), [0, x])[1]
    [grad] = tf.gradients(y, x)
    z = tf.map_fn(lambda row: row * row, x)
    for rows, turns in ((2, 1), (4, 3), (1, 0), (5, 2)):
        value = np.linspace(0.5, 2.0, rows * 3, dtype=np.float32).reshape(rows, 3)
        found = session.run([y, grad, z], {x: value, n: turns})
        power = turns + 1
        np.testing.assert_allclose(found[0], value**power, rtol=1e-5)
        np.testing.assert_allclose(found[1], power * value**turns, rtol=1e-5)
        np.testing.assert_allclose(found[2], value**2, rtol=1e-5)


def test_many_turns_keep_their_order(session):
    x = tf.constant(np.linspace(0.99, 1.01, 200, dtype=np.float32))
    factors = tf.TensorArray(tf.float32, 200).unstack(x)
    y = tf.while_loop(
        lambda i, y: i < 200, lambda i, y: (i + 1, y * factors.read(i)), [0, 1.0]
    )[1]
    [grad] = tf.gradients(y, x)
    values, product, found = session.run([x, y, grad])
    np.testing.assert_allclose(found, product / values, rtol=1e-4)


def test_a_variable_that_one_branch_in_a_loop_reads(session):
    grads = []
    for is_resource in (True, False):
        w = tf.get_variable(
            f"w{is_resource}", initializer=[2.0, 3.0], use_resource=is_resource
        )

        def body(i, y, w=w):
            even = tf.equal(i % 2, 0)
            return i + 1, tf.cond(even, lambda: tf.sin(y * w), lambda: y * y)

        y = tf.while_loop(lambda i, _: i < 4, body, [0, tf.ones([2])])[1]
        grads += tf.gradients(y, w)
    session.run(tf.global_variables_initializer())
    resource, reference = session.run(grads)
    np.testing.assert_allclose(resource, reference, rtol=1e-6)
    assert reference.all()


def test_second_order_is_refused(session):
    x = tf.constant(2.0)
    y = tf.while_loop(lambda y: y < 30.0, lambda y: y * x, [x])
    [first] = tf.gradients(y, x)
    with pytest.raises(
        TypeError, match="Second-order gradient for while loops not supported"
    ):
        tf.gradients(first, x)
    assert session.graph.control_flow_context is None
    assert session.run(first) == 5 * 2.0**4


def test_an_error_in_a_rule_leaves_no_context_open(session):
    @tf.RegisterGradient("FailsInALoop")
    def fail(op, grad):
        raise KeyError("mine")

    x = tf.constant(2.0)
    with session.graph.gradient_override_map({"Sin": "FailsInALoop"}):
        y = tf.while_loop(lambda y: y < 30.0, lambda y: y + tf.sin(y) + 2.0, [x])
    with pytest.raises(KeyError, match="mine"):
        tf.gradients(y, x)
    assert session.graph.control_flow_context is None


def test_an_imported_loop_has_no_gradient(session):
    x = tf.constant(2.0, name="x")
    tf.while_loop(lambda y: y < 30.0, lambda y: y * x, [x], name="loop")
    graph_def = session.graph.as_graph_def()
    x, y = tf.import_graph_def(graph_def, return_elements=["x:0", "loop/Exit:0"])
    with pytest.raises(ValueError, match="Failed to call gradients on a while loop"):
        tf.gradients(y, x)


# ---- hand-made loops

HEAD = """
node { name: "c" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 3 }}}}
"""
T = 'attr { key: "T" value { type: DT_FLOAT } }'


def node(name, op, *inputs, attr=""):
    names = " ".join(f'input: "{i}"' for i in inputs)
    return f'node {{ name: "{name}" op: "{op}" {names} {T} {attr} }}\n'


def enter(name, frame):
    return node(
        name,
        "Enter",
        "c",
        attr=f'attr {{ key: "frame_name" value {{ s: "{frame}" }} }}',
    )


HAND_MADE = {
    "lone exit": (node("out", "Exit", "c"), "out is an Exit that no Enter leads to"),
    "two frames": (
        enter("e", "f")
        + enter("g", "h")
        + node("a", "Add", "e", "g")
        + node("out", "Exit", "a"),
        "node a has inputs from different frames. The input node g is in frame 'h'. "
        "The input node e is in frame 'f'.",
    ),
    "one outside": (
        enter("e", "f") + node("a", "Add", "e", "c") + node("out", "Exit", "a"),
        "node a has inputs from different frames. The input node e is in frame 'f'. "
        "The input node c is in frame ''.",
    ),
}


@pytest.mark.parametrize("case", HAND_MADE)
def test_loops_that_while_loop_does_not_build(session, case):
    from google.protobuf import text_format

    text, message = HAND_MADE[case]
    graph_def = text_format.Parse(HEAD + text, tf.GraphDef())
    [out] = tf.import_graph_def(graph_def, return_elements=["out:0"], name="")
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        session.run(out)
    assert message in caught.value.message


def test_a_vector_decides_nothing(session):
    loop = tf.while_loop(
        lambda i: i < 3, lambda i: i + 1, [tf.placeholder_with_default([0, 1], None)]
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be a scalar, but"):
        session.run(loop)
    with pytest.raises(ValueError, match="Shape must be rank 0 but is rank 1 for 'wh"):
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant([0, 1])])


# ---- TensorArrays


def array(size=2, **options):
    return tf.TensorArray(tf.float32, size, **options)


def free(value):
    return tf.placeholder_with_default(np.asarray(value, np.float32), None)


def after(tensor, function):
    with tf.control_dependencies([tensor]):
        return function()


def read_twice():
    ta = array().write(0, 1.0)
    return after(ta.read(0), lambda: ta.read(0))


def written_after_reading():
    ta = array(clear_after_read=False).write(0, 1.0)
    return after(ta.read(0), lambda: ta.write(0, 2.0).flow)


def closed():
    ta = array().write(0, 1.0)
    return after(after(ta.flow, ta.close), lambda: ta.read(0))


def grown_after_gradients():
    ta = array(dynamic_size=True).write(0, 1.0)
    return after(ta.grad("gradients").handle, lambda: ta.write(5, 3.0).flow)


def pushed_too_much():
    stack = StackV2(tf.float32)(1)
    return after(StackPushV2()(stack, 1.0), lambda: StackPushV2()(stack, 1.0))


def pushed_when_closed():
    stack = StackV2(tf.float32, "mine")(-1)
    return after(StackCloseV2()(stack), lambda: StackPushV2()(stack, 1.0))


uneven = {"infer_shape": False}
RUN_ERRORS = {
    "written twice": (
        lambda: array().write(0, 1.0).write(0, 2.0).flow,
        "Could not write to TensorArray index 0 because it has already been written to",
    ),
    "behind": (
        lambda: array().write(2, 1.0).flow,
        "Tried to write to index 2 but array is not resizeable and size is: 2",
    ),
    "negative": (
        lambda: array(dynamic_size=True).write(-1, 1.0).flow,
        "Tried to write to index -1 but array is not resizeable and size is: 2",
    ),
    "read behind": (
        lambda: array().read(2),
        "Tried to read from index 2 but array size is: 2",
    ),
    "never written": (
        lambda: array().read(0),
        "Could not read from TensorArray index 0.  Furthermore, the element shape is "
        "not fully defined: <unknown>.",
    ),
    "read twice": (read_twice, "Could not read index 0 twice because it was cleared"),
    "written after reading": (written_after_reading, "it has already been read."),
    "closed": (closed, "has already been closed"),
    "grown": (grown_after_gradients, "Tried to write to index 5 but array is not res"),
    "shape": (
        lambda: array().write(0, free([1])).write(1, free([1, 2])).flow,
        "index 1 because the value shape is [2] which is incompatible with the "
        "TensorArray's inferred element shape: [1] (consider setting infer_shape=False"
        ").",
    ),
    "type": (
        lambda: array().write(0, tf.constant(1)).flow,
        "TensorArray dtype is float but Op is trying to write dtype int32.",
    ),
    "type read": (
        lambda: TensorArrayReadV3(tf.int32)(array().handle, 0, 0.0),
        "TensorArray dtype is float but Op requested dtype int32.",
    ),
    "stack uneven": (
        lambda: array(**uneven).write(0, free([1])).write(1, free([1, 2])).stack(),
        "TensorArray has inconsistent shapes.  Index 0 has shape: [1] but index 1 has "
        "shape: [2]",
    ),
    "scatter behind": (
        lambda: array().scatter([0, 2], [1.0, 2.0]).flow,
        "Max scatter index must be < array size (2 vs. 2)",
    ),
    "scatter a scalar": (
        lambda: array().scatter([0], free(1)).flow,
        "Input value for unpack must be at least a vector but received shape: []",
    ),
    "split sum": (
        lambda: array(**uneven).split([1.0, 2.0, 3.0], [1, 1]).flow,
        "sum of lengths is 2 and value's shape is: [3]",
    ),
    "split number": (
        lambda: array(3, **uneven).split([1.0, 2.0, 3.0], [1, 2]).flow,
        "size is not equal to the size of lengths (3 vs. 2), and the TensorArray is "
        "not marked as dynamically resizeable",
    ),
    "concat scalars": (
        lambda: array().unstack([1.0, 2.0]).concat(),
        "Concat saw a scalar shape at index 0 but requires at least vectors.",
    ),
    "concat uneven": (
        lambda: array(**uneven).write(0, free([[1]])).write(1, free([[1, 2]])).concat(),
        "Index 0 has (excepting dimension 0) shape: [1] but index 1 has (excepting "
        "dimension 0) shape: [2]",
    ),
    "size": (lambda: array(-1).flow, "Size should be >= 0."),
    "empty": (
        lambda: array(0).stack(),
        "TensorArray has size zero, but element shape <unknown> is not fully defined.",
    ),
    "bool sums": (
        lambda: (
            tf.TensorArray(tf.bool, 1)
            .grad("gradients")
            .write(0, True)
            .write(0, True)
            .flow
        ),
        "tensor_array::AddToTensor type not supported: bool",
    ),
    "pop": (
        lambda: StackPopV2(tf.float32)(StackV2(tf.float32)(-1)),
        "is empty when calling Pop().",
    ),
    "push": (pushed_too_much, "overflowed its max_size (1)"),
    "push closed": (pushed_when_closed, "has already been closed."),
}


@pytest.mark.parametrize("case", RUN_ERRORS)
def test_tensor_array_refuses_in_the_run(session, case):
    build, message = RUN_ERRORS[case]
    kinds = tf.errors.InvalidArgumentError, tf.errors.UnimplementedError
    with pytest.raises(kinds) as caught:
        session.run(build())
    assert message in caught.value.message


def handle():
    return array().handle


BUILD_ERRORS = {
    "no size": (lambda: array(None), ValueError, "Size must be provided if handle is"),
    "two": (
        lambda: array(3, handle=handle()),
        ValueError,
        "both a handle and size at the same time",
    ),
    "name": (
        lambda: array(None, handle=handle(), tensor_array_name="x"),
        ValueError,
        "Cannot construct with both handle and tensor_array_name",
    ),
    "no tensor": (
        lambda: array(None, handle=3, flow=1.0),
        TypeError,
        "Handle must be a Tensor",
    ),
    "no flow": (
        lambda: array(None, handle=handle()),
        ValueError,
        "flow must not be None if handle is not None.",
    ),
    "shape": (
        lambda: array().write(0, [1.0]).write(1, [1.0, 2.0]),
        ValueError,
        r"Inconsistent shapes: saw \(2,\) but expected \(1,\)",
    ),
    "scatter": (
        lambda: array(4).scatter([0, 2, 3], [1.0, 2.0]),
        ValueError,
        "Dimensions must be equal, but are 2 and 3",
    ),
    "name of gradients": (
        lambda: tf.gradients(array().unstack(c := free([1, 2])).stack(), c, name="x"),
        ValueError,
        "Expected op/tensor name to start with gradients",
    ),
}


@pytest.mark.parametrize("case", BUILD_ERRORS)
def test_tensor_array_refuses_at_build(session, case):
    build, kind, message = BUILD_ERRORS[case]
    with pytest.raises(kind, match=message):
        build()


def test_what_was_not_written_is_zero_where_its_shape_is_known(session):
    part = array().write(1, [1.0, 2.0]).stack()
    known = array(element_shape=[3]).read(0)
    text = tf.TensorArray(tf.string, 2).write(1, "a").stack()
    grad = array().write(0, [1.0, 2.0]).grad("gradients").read(0)
    found = session.run([part, known, text, grad])
    assert found[0].tolist() == [[0, 0], [1, 2]]
    assert found[1].tolist() == [0, 0, 0]
    assert found[2].tolist() == [b"", b"a"]
    assert found[3].tolist() == [0, 0]


def test_tensor_array_properties_and_growth(session):
    ta = array(1, dynamic_size=True, element_shape=[None], name="mine")
    assert (ta.dtype, ta.dynamic_size, ta.element_shape.as_list()) == (
        tf.float32,
        True,
        [None],
    )
    assert ta.handle.op.name == "mine"
    written = ta.write(3, [1.0, 2.0])
    assert ta.element_shape.as_list() == [2]  # shared by all of one handle
    assert written.handle is ta.handle
    assert session.run(written.identity().size()) == 4
    sums = ta.grad("gradients", flow=written.flow)
    assert (
        session.run(sums.write(3, [1.0, 1.0]).write(3, [2.0, 3.0]).read(3)).sum() == 7
    )


def test_each_run_has_its_own_arrays(session):
    x = tf.placeholder(tf.float32, [3])
    total = array(3).unstack(x).stack() * 2.0
    for value in ([1, 2, 3], [4, 5, 6]):
        assert session.run(total, {x: value}).tolist() == [2 * v for v in value]


def test_tensor_array_out_of_a_branch(session):
    p = tf.placeholder(tf.bool, [])
    ta = array(clear_after_read=False).write(0, 1.0)
    both = tf.cond(p, lambda: ta.write(1, 5.0), lambda: ta.write(1, 2.0))
    assert isinstance(both, tf.TensorArray)
    assert session.run(both.stack(), {p: True}).tolist() == [1, 5]
    assert session.run(both.stack(), {p: False}).tolist() == [1, 2]
