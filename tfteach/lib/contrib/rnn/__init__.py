"""`tf.contrib.rnn`: further cells, wrappers and functions to run them.

Parts that TF later moved to the core (BasicLSTMCell, static_rnn, ...) are in
`tfteach.lib.rnn`, exported under both names.  The others build on `linear.py` and
`shared.py`.
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
