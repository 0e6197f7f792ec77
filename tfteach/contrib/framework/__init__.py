"""`tf.contrib.framework`: argument scopes, variables of models, small helpers.

Read `arguments.py` (arg_scope), `variables.py`, `helpers.py`, `shapes.py`.
"""

from tfteach.contrib.framework import arguments as arguments
from tfteach.contrib.framework import helpers as helpers
from tfteach.contrib.framework import shapes as shapes
from tfteach.contrib.framework import variables as variables
