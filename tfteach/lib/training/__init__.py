"""Training: optimizers, their slots, the global step, learning-rate schedules.

In: a loss; out: an op that changes the variables.  Read `optimizer.py` (what all
optimizers share), then one rule, such as `gradient_descent.py`, then `slot_creator.py`
(the variables that rules keep beside the model's), `global_step.py`, `schedules.py`.
The arithmetic of the updates is in `ops/training/training_ops.py`.
"""
