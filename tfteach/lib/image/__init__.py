"""`tf.image`, composed of public ops.

Images are Tensors [height, width, channels] or batches of them; their kernels are in
tfteach/ops/image.  Read color.py (value ranges of types), then adjust.py; for shapes
checks.py, crop.py, resize.py, flip.py; for comparison of images quality.py.
"""

from tfteach.lib.image import adjust as adjust
from tfteach.lib.image import color as color
from tfteach.lib.image import crop as crop
from tfteach.lib.image import edges as edges
from tfteach.lib.image import flip as flip
from tfteach.lib.image import quality as quality
from tfteach.lib.image import random_color as random_color
from tfteach.lib.image import resize as resize
