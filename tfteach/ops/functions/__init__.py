"""Ops that call functions of the graph's library."""

# Op type -> module.  Written by `python tfteach/framework/export.py --write`.
MODULE_OF = {
    "Case": "control_flow",
    "FakeParam": "control_flow",
    "For": "control_flow",
    "If": "control_flow",
    "PartitionedCall": "calls",
    "RemoteCall": "calls",
    "StatefulPartitionedCall": "calls",
    "StatelessIf": "control_flow",
    "StatelessWhile": "control_flow",
    "SymbolicGradient": "calls",
    "While": "control_flow",
}
