"""Training: optimizers, their slots, the global step, learning-rate schedules.

The input is a loss, the result an op that updates the variables.  Read `optimizer.py`
(the base class), then one rule, such as `gradient_descent.py`, then `slot_creator.py`
(the variables that rules create for the model's variables), `global_step.py`,
`schedules.py`. The arithmetic of the updates is in `ops/training/training_ops.py`.
"""
