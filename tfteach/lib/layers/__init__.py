"""`tf.layers`: functions and classes that create their own variables.

Inputs and results are tensors; variables, regularization losses and update ops are
added to the graph's collections.  Read `base.py` (calls and their scopes), `core.py`
(dense, dropout, flatten), then the others; `specs.py` and `activations_by_name.py`
check and look up arguments.
"""

from tfteach.lib.layers.base import Layer as Layer
from tfteach.lib.layers.specs import InputSpec as InputSpec
