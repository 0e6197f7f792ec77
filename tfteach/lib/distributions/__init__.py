"""`tf.distributions`: probability distributions as objects that build graphs.

A distribution is made from parameter tensors and gives tensors: samples, probabilities,
moments, divergences.  Read base.py (what all have), continuous.py (the simplest ones),
then divergence.py (how Kullback-Leibler divergences are registered).
Above the checks that `validate_args` asks for, beside the layers.
"""
