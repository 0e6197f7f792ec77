"""tf.contrib.graph_editor: selects, copies and reconnects parts of a graph.

util.py (lists of operations and tensors), select.py (regular expressions), walks.py (by
what leads to an operation), subgraph.py (a part with its inputs and outputs),
reroute.py and edit.py (reconnect), transformer.py (copies by handlers), transform.py
(copy, replace).
"""
