"""Layers: `tf.layers`, functions and classes that make their variables themselves.

In: tensors; out: tensors, with variables, regularization losses and update ops in the
graph's collections.  Read `base.py` (what a call does, and in which scopes), `core.py`
(dense, dropout, flatten), then the others; `specs.py` and `activations_by_name.py`
check arguments and look them up.
"""

from tfteach.lib.layers.base import Layer as Layer
from tfteach.lib.layers.specs import InputSpec as InputSpec
