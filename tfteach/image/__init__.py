"""Images: `tf.image`, composed of public ops.

Images are Tensors [height, width, channels] or batches of them; their kernels are in
ops/ (modules `image_*`).  Read color.py (what types mean), then adjust.py.
"""

from tfteach.image import adjust as adjust
from tfteach.image import color as color
from tfteach.image import random_color as random_color
