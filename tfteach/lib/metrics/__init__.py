"""Metrics: `tf.metrics`, means and counts over the batches of a stream.

In: labels and predictions of a batch; out: a pair of Tensors, the value so far and the
op that takes the batch in.  What they count is in local variables.  Read `shared.py`,
`means.py`, then the others.
"""

from tfteach.lib.metrics import classes as classes
from tfteach.lib.metrics import counts as counts
from tfteach.lib.metrics import means as means
from tfteach.lib.metrics import ranked as ranked
from tfteach.lib.metrics import thresholds as thresholds
