"""Fused nodes, as masters of TensorFlow 1.15 and 2.21 register them with workers."""

import numpy as np
import pytest
from google.protobuf import text_format

import tfteach as tf
from tfteach.lib.distributed_runtime.fused_nodes import unfused
from tfteach.lib.distributed_runtime.partition_session import PartitionSession

T = 'attr { key: "T" value { type: DT_FLOAT } }'


def texts(name, *values):
    listed = " ".join(f's: "{value}"' for value in values)
    return f'attr {{ key: "{name}" value {{ list {{ {listed} }} }} }}'


def integers(name, *values):
    listed = " ".join(f"i: {value}" for value in values)
    return f'attr {{ key: "{name}" value {{ list {{ {listed} }} }} }}'


def text(name, value):
    return f'attr {{ key: "{name}" value {{ s: "{value}" }} }}'


def number(name, value, kind="f"):
    return f'attr {{ key: "{name}" value {{ {kind}: {value} }} }}'


CONV = T + integers("strides", 1, 1, 1, 1) + text("padding", "SAME")
NORM = T + 'attr { key: "U" value { type: DT_FLOAT } }' + number("epsilon", 0.25)
UNTRAINED = NORM + number("is_training", "false", "b")
X, W, B = np.array([[-3.0, 2.0]]), np.array([[1.0, 3], [2, -5]]), np.array([0.5, 1.0])
IMAGE = np.arange(-4.0, 4).reshape(1, 2, 2, 2)
KERNEL = np.array([[[[1.0, 0.0], [2.0, -1.0]]]])
MEAN, VARIANCE = np.array([1.0, -1.0]), np.array([0.75, 3.75])


def normalized(x):
    return (x - MEAN) / np.sqrt(VARIANCE + 0.25) * B + B


def relu(x):
    return np.maximum(x, 0)


# op type, attributes, inputs, the value
ROWS = {
    "bias": (
        "_FusedMatMul",
        T + texts("fused_ops", "BiasAdd"),
        [X, W, B],
        X @ W + B,
    ),
    "transposed": (
        "_FusedMatMul",
        T + texts("fused_ops", "BiasAdd", "Relu") + number("transpose_b", "true", "b"),
        [X, W, B],
        relu(X @ W.T + B),
    ),
    "leaky": (
        "_FusedMatMul",
        T + texts("fused_ops", "BiasAdd", "LeakyRelu") + number("leakyrelu_alpha", 0.5),
        [X, W, B],
        np.where(X @ W + B > 0, X @ W + B, (X @ W + B) / 2),
    ),
    "convolution": (
        "_FusedConv2D",
        CONV + texts("fused_ops", "BiasAdd", "Relu6"),
        [IMAGE, KERNEL, B],
        np.clip(IMAGE @ KERNEL[0, 0] + B, 0, 6),
    ),
    "folded batch normalization": (
        "_FusedConv2D",
        CONV + texts("fused_ops", "FusedBatchNorm", "Relu") + number("epsilon", 0.25),
        [IMAGE, KERNEL, B, B, MEAN, VARIANCE],
        relu(normalized(IMAGE @ KERNEL[0, 0])),
    ),
    "batch normalization": (
        "_FusedBatchNormEx",
        UNTRAINED + text("activation_mode", "Relu"),
        [IMAGE, B, B, MEAN, VARIANCE],
        relu(normalized(IMAGE)),
    ),
    "batch normalization and a sum": (
        "_FusedBatchNormEx",
        UNTRAINED + text("activation_mode", "Identity"),
        [IMAGE, B, B, MEAN, VARIANCE, IMAGE],
        normalized(IMAGE) + IMAGE,
    ),
    "chain": (
        "_UnaryOpsComposition",
        T + texts("op_names", "Abs", "Sqrt", "Exp"),
        [X],
        np.exp(np.sqrt(np.abs(X))),
    ),
    "snapshot": ("Snapshot", T, [X], X),
}


def fused(op_type, attrs, count):
    """A GraphDef with one node, whose inputs are placeholders."""
    inputs = " ".join(f'input: "x{i}"' for i in range(count))
    nodes = [
        f'node {{ name: "x{i}" op: "Placeholder" '
        'attr { key: "dtype" value { type: DT_FLOAT } } }'
        for i in range(count)
    ]
    nodes.append(f'node {{ name: "y" op: "{op_type}" {inputs} {attrs} }}')
    return text_format.Parse("\n".join(nodes), tf.GraphDef())


@pytest.mark.parametrize(
    ("op_type", "attrs", "inputs", "value"), ROWS.values(), ids=ROWS
)
def test_values(op_type, attrs, inputs, value):
    graph_def = fused(op_type, attrs, len(inputs))
    plain = tf.GraphDef(node=unfused(graph_def))
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(plain, name="")
        fed = {f"x{i}:0": array for i, array in enumerate(inputs)}
        np.testing.assert_allclose(session.run("y:0", fed), value, rtol=1e-6)


def test_other_outputs_are_those_of_the_normalization():
    graph_def = fused("_FusedBatchNormEx", NORM + text("activation_mode", "Relu"), 5)
    graph_def.node[-1].input.append("^x0")
    graph_def.node.add(name="mean", op="Identity", input=["y:1"]).attr["T"].type = 1
    *_, norm, relu, mean = unfused(graph_def)
    assert [norm.name, relu.name, *mean.input] == ["y/unfused_0", "y", "y/unfused_0:1"]
    assert [*norm.input] == [*(f"x{i}" for i in range(5)), "^x0"]
    assert [*relu.input] == ["y/unfused_0"]


def test_unknown_activations_are_refused():
    graph_def = fused("_FusedMatMul", T + texts("fused_ops", "BiasAdd", "GeluExact"), 3)
    with pytest.raises(
        tf.errors.UnimplementedError, match=r"\{\{node y\}\}.*GeluExact"
    ):
        unfused(graph_def)


def test_workers_replace_them_and_ignore_hints(own_server):
    graph_def = fused("_FusedMatMul", ROWS["bias"][1], 3)
    for i in range(3):  # the master sends what is fed
        graph_def.node[i].attr["dtype"].type = tf.float32.as_datatype_enum
    product = graph_def.node.add(name="_z", op="MatMul", input=["x0", "y", "^y"])
    product.attr["T"].type = tf.float32.as_datatype_enum
    product.attr["grad_b"].b = True
    worker = own_server._worker
    part = PartitionSession(worker._shared, graph_def, tf.ConfigProto())
    try:
        assert part.graph.get_operation_by_name("y").type == "BiasAdd"
        assert part.graph.get_operation_by_name("_z").type == "MatMul"
    finally:
        part.close()
    product.name, product.input[:] = "z", ["x0", "x1"]
    with pytest.raises(ValueError, match="'grad_b' not in"):  # only peers may be newer
        tf.import_graph_def(tf.GraphDef(node=[*graph_def.node[:2], product]))
