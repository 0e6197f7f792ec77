"""`tf.distributions`: probability distributions as objects that build graphs.

In: parameter tensors; out: tensors of samples, probabilities, moments, divergences.
Read base.py, normal.py (a simple one), then divergence.py (the registry of
Kullback-Leibler divergences).
"""
