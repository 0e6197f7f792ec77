"""Distribution strategies: one model on several devices, as `tf.distribute`.

Read `strategy.py`, then `mirrored_strategy.py`, then `parameter_server_strategy.py`.
"""
