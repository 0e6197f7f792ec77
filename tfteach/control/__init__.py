"""Branches and loops as TF 1 builds them: Switch, Merge, Enter, Exit, NextIteration.

In: Python functions that build a branch's or a loop's body.  Out: nodes, and contexts
(`framework/control_flow_context.py`) that carry outside values in.  Read branch.py,
loop.py, case.py; then tensor_array.py, the lists that loops write, and functional.py,
which is built of both.
"""
