"""tf.contrib.graph_editor: selects, copies and reconnects parts of a graph.

util.py (lists of operations and tensors), select.py (walks and regular expressions),
subgraph.py (a part with its inputs and outputs), reroute.py and edit.py (reconnect),
transform.py (copy).
"""
