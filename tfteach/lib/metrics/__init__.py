"""`tf.metrics`: means and counts over the batches of a stream.

Inputs are the labels and predictions of a batch; the result is a pair of Tensors, the
value so far and the op that adds the batch.  The state is in local variables.  Read
`shared.py`, `means.py`, then the others.
"""

from tfteach.lib.metrics import classes as classes
from tfteach.lib.metrics import counts as counts
from tfteach.lib.metrics import means as means
from tfteach.lib.metrics import ranked as ranked
from tfteach.lib.metrics import thresholds as thresholds
