"""Ops are found by their types, even if nothing has imported their modules."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
import tfteach as tf

tables = "tfteach.ops.state.lookup_tables"
assert tables not in sys.modules
graph_def = tf.GraphDef()
node = graph_def.node.add(name="table", op="HashTableV2")
node.attr["key_dtype"].type = tf.string.as_datatype_enum
node.attr["value_dtype"].type = tf.int64.as_datatype_enum
tf.import_graph_def(graph_def, name="")
print(tf.get_default_graph().get_operation_by_name("table").outputs[0].dtype)
assert tables in sys.modules
"""


def test_a_graph_imports_the_modules_of_its_ops() -> None:
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == "<dtype: 'resource'>\n", done.stderr
