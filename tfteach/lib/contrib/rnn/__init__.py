"""`tf.contrib.rnn`: more cells, wrappers and ways of running them.

What TF moved to the core since (BasicLSTMCell, static_rnn, ...) is `tfteach.lib.rnn`,
under both names.  `linear.py` and `shared.py` are what the others build on.
"""

from tfteach.lib.contrib.rnn import blocks as blocks
from tfteach.lib.contrib.rnn import cells as cells
from tfteach.lib.contrib.rnn import convolutional as convolutional
from tfteach.lib.contrib.rnn import fused as fused
from tfteach.lib.contrib.rnn import grid as grid
from tfteach.lib.contrib.rnn import independent as independent
from tfteach.lib.contrib.rnn import lstm_cells as lstm_cells
from tfteach.lib.contrib.rnn import projections as projections
from tfteach.lib.contrib.rnn import stacks as stacks
from tfteach.lib.contrib.rnn import wrappers as wrappers
