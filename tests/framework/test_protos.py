"""TF's messages by their public names, loaded only when asked for."""

import copy
import hashlib
import pickle
import subprocess
import sys

import pytest
from google.protobuf import text_format

import tfteach as tf
from tfteach.framework import protos


def test_every_message_loads():
    for name in dir(protos):
        assert getattr(protos, name).DESCRIPTOR.name == name


def test_public_names():
    assert tf.GraphDef is protos.GraphDef
    assert tf.summary.Summary is tf.Summary is protos.Summary
    assert tf.train.SaverDef is protos.SaverDef
    for module in (tf, tf.summary, tf.train, protos):
        with pytest.raises(AttributeError, match="has no attribute 'NoMessage'"):
            module.NoMessage  # noqa: B018


def test_importing_the_package_loads_no_proto():
    code = (
        "import sys, tfteach; sys.exit(any(m.startswith(('tensorboard', "
        "'google.protobuf')) for m in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_messages_print_as_tensorflow_prints_them():
    node = protos.NodeDef(name="\0\t'\"é")
    node.attr["b"].list.f.extend([0.1, 1e10, -0.0])
    node.attr["a"].list.type.extend([1, 101, 5000])
    node.attr[""].func.attr["z"].s = b"\xff?"
    config = protos.ConfigProto(device_count={"GPU": 1, "CPU": 2, "": 0})
    assert str(node) == repr(node) == NODE_TEXT
    assert repr([node.attr["a"]]) == f"[{node.attr['a']}]"
    assert str(config).split("\n") == [
        line
        for key, count in (("", 0), ("CPU", 2), ("GPU", 1))
        for line in ("device_count {", f'  key: "{key}"', f"  value: {count}", "}")
    ] + [""]


# As real TensorFlow 1.15 printed it.
NODE_TEXT = r"""name: "\000\t\'\"\303\251"
attr {
  key: ""
  value {
    func {
      attr {
        key: "z"
        value {
          s: "\377?"
        }
      }
    }
  }
}
attr {
  key: "a"
  value {
    list {
      type: DT_FLOAT
      type: DT_FLOAT_REF
      type: 5000
    }
  }
}
attr {
  key: "b"
  value {
    list {
      f: 0.10000000149011612
      f: 10000000000.0
      f: -0.0
    }
  }
}
"""


def test_a_graph_prints_as_in_the_course_notes():
    with tf.Graph().as_default() as graph:
        x = tf.Variable(10, name="x")
        y = tf.Variable([1.0, 2.0], name="y")
        tf.add(tf.cast(x, tf.float32), y)
    text = str(graph.as_graph_def())
    assert hashlib.md5(text.encode()).hexdigest() == "bd424d87e21e581179bdf9654fa6d69b"
    assert text == text_format.MessageToString(graph.as_graph_def())


def test_tensorboard_keeps_its_own_classes():
    from tensorboard.compat.proto.graph_pb2 import GraphDef

    assert protos.GraphDef is not GraphDef
    assert protos.GraphDef.DESCRIPTOR.full_name == "tensorflow.GraphDef"
    assert "message_text" not in str(GraphDef.__str__)
    theirs = GraphDef()
    theirs.node.add(name="n", op="NoOp")
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(theirs, name="")
    assert graph.as_graph_def().node[0].name == "n"


def test_messages_can_be_copied_and_pickled():
    graph_def = protos.GraphDef()
    size = graph_def.node.add().attr["s"].shape.dim.add(size=3)
    for message in (graph_def, size):
        for again in (pickle.loads(pickle.dumps(message)), copy.deepcopy(message)):
            assert again == message
            assert type(again) is type(message)


def strings_in_content(content):
    proto = tf.make_tensor_proto(["a"] * 3)
    proto.ClearField("string_val")
    proto.tensor_content = content
    return tf.make_ndarray(proto)


def test_strings_in_tensor_content():
    """As a server of TensorFlow writes the constants of a graph: sizes, then bytes."""
    long = bytes(200)
    found = strings_in_content(b"\x01\x00\xc8\x01a" + long)
    assert found.tolist() == [b"a", b"", long]
    for damaged in (b"\x01\x00", b"\x01\x00\x09axyz", b"\x01\x00\x03axyzz"):
        with pytest.raises(ValueError, match="so many strings"):
            strings_in_content(damaged)
