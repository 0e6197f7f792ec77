"""Ops that call functions of the graph's library."""

# Op type -> module.  Written by `python tfteach/framework/export.py --write`.
MODULE_OF = {
    "PartitionedCall": "calls",
    "RemoteCall": "calls",
    "StatefulPartitionedCall": "calls",
    "SymbolicGradient": "calls",
}
