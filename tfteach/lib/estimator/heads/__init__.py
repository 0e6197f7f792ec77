"""Heads: the last part of a canned estimator's model.

A head makes of logits predictions, a loss, metrics, a train op and signatures.  Read
`head.py`, then the heads in the order of their subjects: regression, binary and
multi-class.  `tf.contrib.estimator` has more of them.
"""
