"""`tf.contrib.rnn`: more cells, wrappers and ways of running them.

What TF moved to the core since (BasicLSTMCell, static_rnn, ...) is `tfteach.rnn`, under
both names.
"""

from tfteach.contrib.rnn import projections as projections
from tfteach.contrib.rnn import stacks as stacks
