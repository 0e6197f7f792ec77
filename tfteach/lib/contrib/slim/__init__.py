"""`tf.contrib.slim`: contrib's layers, argument scopes and losses under one name.

Only `learning` is specific to slim; the rest is exported from its own modules.
"""

from tfteach.lib.contrib.slim import learning as learning
from tfteach.lib.contrib.slim import training_loop as training_loop
