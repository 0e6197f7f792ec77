"""A Saver's nodes, and what it refuses; test_saver_nodes.py compares them to TF's."""

import pytest

import tfteach as tf
from tfteach.framework.protos import SaverDef


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_saver_def():
    tf.Variable(1.0, name="v")
    saver = tf.train.Saver(max_to_keep=3)
    assert saver.as_saver_def() == SaverDef(
        filename_tensor_name="save/Const:0",
        save_tensor_name="save/control_dependency:0",
        restore_op_name="save/restore_all", max_to_keep=3,
        keep_checkpoint_every_n_hours=10000.0, version=SaverDef.V2,
    )  # fmt: skip
    count = len(tf.get_default_graph().get_operations())
    again = tf.train.Saver(saver_def=saver.as_saver_def())
    assert again.as_saver_def() == saver.as_saver_def()
    assert len(tf.get_default_graph().get_operations()) == count
    assert saver.last_checkpoints == []


def test_deferred_and_empty(graph):
    saver = tf.train.Saver(defer_build=True)
    tf.train.Saver(allow_empty=True)
    assert graph.get_operations() == []
    with pytest.raises(ValueError, match="No variables to save"):
        tf.train.Saver()
    tf.Variable(1.0, name="v")
    saver.build()
    assert graph.get_operation_by_name("save/SaveV2").inputs[-1].op.name == "v"


def test_refused(graph):
    v = tf.Variable(1.0, name="v")
    with pytest.raises(TypeError, match="Variable to save is not a Variable: Tensor"):
        tf.train.Saver([tf.constant(1)])
    with pytest.raises(TypeError, match="should be passed in a dict or a list: x"):
        tf.train.Saver("x")
    with pytest.raises(ValueError, match="two variables have the same name: v"):
        tf.train.Saver([v, v])
    with pytest.raises(ValueError, match="then build cannot be deferred"):
        tf.train.Saver([v], defer_build=True)
    with pytest.raises(ValueError, match=r"must be a saver_pb2\.SaverDef"):
        tf.train.Saver(saver_def=3)
    with pytest.raises(ValueError, match="must specify the save_tensor_name"):
        tf.train.Saver(saver_def=SaverDef())
    twice = {"a": v, "b": v}
    with pytest.raises(ValueError, match="will be restored with two names: b"):
        tf.train.Saver(twice)
    with pytest.raises(TypeError, match="Name is not a string: 3"):
        tf.train.Saver({3: v})
    with pytest.raises(TypeError, match="Not a variable: Tensor"):
        tf.train.Saver({"x": tf.constant(1)})
    with pytest.raises(ValueError, match="Slices must all be slices"):
        tf.train.Saver({"x": [v]})
    with pytest.raises(ValueError, match="Slices must all be Variables: 3"):
        tf.train.Saver({"x": [3]})
    parts = tf.fixed_size_partitioner(2)
    p, q = (tf.get_variable(n, [2], partitioner=parts) for n in "pq")
    with pytest.raises(ValueError, match="from the same tensor: p != q"):
        tf.train.Saver({"x": [*p, *q]})
    with pytest.raises(RuntimeError, match="Unexpected write_version: 3"):
        tf.train.Saver(write_version=3)


def saved(parts: int) -> dict[str, tuple[str, str]]:
    """What a Saver saves: the Tensor -> its key and which part of it it is."""
    with tf.Graph().as_default() as graph:
        splits = tf.fixed_size_partitioner(parts)
        tf.get_variable("w", [4, 3], partitioner=splits)
        tf.get_variable("b", [3])
        loss = tf.add_n([tf.reduce_sum(v * v) for v in tf.trainable_variables()])
        tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
        tf.train.Saver()
        nodes = {node.name: node for node in graph.as_graph_def().node}
    _, keys, slices, *tensors = nodes["save/SaveV2"].input
    keys, slices = (nodes[n].attr["value"].tensor.string_val for n in (keys, slices))
    named = zip([k.decode() for k in keys], [s.decode() for s in slices], strict=True)
    return dict(zip(tensors, named, strict=True))


def test_slots_of_parts_are_parts_of_slots() -> None:
    assert saved(2) == {
        "b": ("b", ""),
        "b/Momentum": ("b/Momentum", ""),
        "w/part_0/read": ("w", "4 3 0,2:0,3"),
        "w/part_1/read": ("w", "4 3 2,2:0,3"),
        "w/part_0/Momentum/read": ("w/Momentum", "4 3 0,2:0,3"),
        "w/part_1/Momentum/read": ("w/Momentum", "4 3 2,2:0,3"),
    }
    alone = saved(1)
    assert alone["w/part_0/Momentum/read"] == ("w/Momentum", "4 3 0,4:0,3")
