"""`tf.contrib.layers`; the layers are also in `tf.contrib.slim`.

Each layer opens a variable scope, takes defaults from `arg_scope` and applies a layer
of `tf.layers` in it.  Read `shared.py`, `dense.py`, then the others.
"""

from tfteach.lib.contrib.layers import convolution as convolution
from tfteach.lib.contrib.layers import dense as dense
from tfteach.lib.contrib.layers import embedding as embedding
from tfteach.lib.contrib.layers import groups as groups
from tfteach.lib.contrib.layers import initializers as initializers
from tfteach.lib.contrib.layers import legacy as legacy
from tfteach.lib.contrib.layers import normalization as normalization
from tfteach.lib.contrib.layers import optimizers as optimizers
from tfteach.lib.contrib.layers import pooling as pooling
from tfteach.lib.contrib.layers import regularizers as regularizers
from tfteach.lib.contrib.layers import separable as separable
from tfteach.lib.contrib.layers import sequences as sequences
from tfteach.lib.contrib.layers import shaping as shaping
from tfteach.lib.contrib.layers import summaries as summaries
from tfteach.lib.contrib.layers import utils as utils
