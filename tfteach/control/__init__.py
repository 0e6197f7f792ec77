"""Branches and loops as TF 1 builds them: Switch, Merge, Enter, Exit, NextIteration.

In: Python functions that build a branch or a loop's body.  Out: nodes, and contexts
(framework/control_flow_context.py) that capture outside values.  Read branch.py,
loop.py, case.py; then tensor_array.py (lists that loops write) and functional.py
(map_fn and scan, built of both).
"""
