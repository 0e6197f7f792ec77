"""`tf.contrib.losses`, also `slim.losses`: predictions first, weights per example.

Weights are a scalar or have the leading axes of the losses; without weights the losses
equal `tf.losses`.  Source: contrib/losses/python/losses/loss_ops.py.
"""

from tfteach.lib.contrib.losses import functions as functions
from tfteach.lib.contrib.losses import weighted as weighted
