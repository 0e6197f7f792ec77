"""Losses: `tf.losses`, composed of public ops.

Inputs are labels, predictions and weights; the result is a scalar loss, also added to
the collection `tf.GraphKeys.LOSSES`.  Read `weighted.py` (weights and reductions), then
`regression.py` and `classification.py`.
"""

from tfteach.lib.losses import classification as classification
from tfteach.lib.losses import regression as regression
from tfteach.lib.losses import weighted as weighted
