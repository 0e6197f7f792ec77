"""Branches and loops as built in TF 1: Switch, Merge, Enter, Exit, NextIteration.

Inputs are Python functions that build a branch or a loop's body; results are nodes, and
contexts (framework/control_flow_context.py) that capture outside values.  Read
branch.py, loop.py, case.py; then tensor_array.py (lists that loops write) and
functional.py (map_fn and scan, based on both).  The other modules are functions and
gradients that contain branches or loops, such as `tf.norm` and `tf.linalg.expm`.
"""
