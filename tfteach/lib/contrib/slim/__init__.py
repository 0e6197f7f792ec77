"""`tf.contrib.slim`: contrib's layers, argument scopes and losses under one name.

Only `learning` is slim's own; the rest is public from where it lives.
"""

from tfteach.lib.contrib.slim import learning as learning
