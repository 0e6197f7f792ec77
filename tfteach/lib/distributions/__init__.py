"""`tf.distributions`: probability distributions as objects that build graphs.

Inputs are parameter tensors; results are tensors of samples, probabilities, moments and
divergences.  Read base.py, normal.py (a simple one), then divergence.py (the registry
of Kullback-Leibler divergences).
"""
