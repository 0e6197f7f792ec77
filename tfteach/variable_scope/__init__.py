"""Variables by name: made once, shared where a scope says so.

In: names and `get_variable`'s arguments; out: the variables of tfteach.variables.
Read `store.py` (one graph's variables), `defaults.py` (what a scope is), `opening.py`
(opening scopes, `tf.get_variable`), `template.py`, `slices.py`.
"""

from tfteach.variable_scope.defaults import VariableScope as VariableScope
from tfteach.variable_scope.opening import AUTO_REUSE as AUTO_REUSE
from tfteach.variable_scope.opening import get_variable as get_variable
from tfteach.variable_scope.opening import get_variable_scope as get_variable_scope
from tfteach.variable_scope.opening import variable_scope as variable_scope
from tfteach.variable_scope.template import make_template as make_template
