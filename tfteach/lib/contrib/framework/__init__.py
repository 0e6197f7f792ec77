"""`tf.contrib.framework`: argument scopes, model variables, utilities.

Read `arguments.py` (arg_scope), `variables.py`, `checkpoints.py`, `helpers.py`,
`shapes.py`.
"""

from tfteach.lib.contrib.framework import arguments as arguments
from tfteach.lib.contrib.framework import checkpoints as checkpoints
from tfteach.lib.contrib.framework import helpers as helpers
from tfteach.lib.contrib.framework import shapes as shapes
from tfteach.lib.contrib.framework import variables as variables
