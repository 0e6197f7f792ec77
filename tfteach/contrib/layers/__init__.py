"""`tf.contrib.layers`, whose layers are `tf.contrib.slim`'s as well.

Each opens a variable scope of its own, takes defaults from `arg_scope` and applies a
layer of `tf.layers` there.  Read `shared.py`, `dense.py`, then the others.
"""

from tfteach.contrib.layers import convolution as convolution
from tfteach.contrib.layers import dense as dense
from tfteach.contrib.layers import embedding as embedding
from tfteach.contrib.layers import groups as groups
from tfteach.contrib.layers import initializers as initializers
from tfteach.contrib.layers import legacy as legacy
from tfteach.contrib.layers import normalization as normalization
from tfteach.contrib.layers import optimizers as optimizers
from tfteach.contrib.layers import pooling as pooling
from tfteach.contrib.layers import regularizers as regularizers
from tfteach.contrib.layers import separable as separable
from tfteach.contrib.layers import sequences as sequences
from tfteach.contrib.layers import shaping as shaping
from tfteach.contrib.layers import summaries as summaries
from tfteach.contrib.layers import utils as utils
