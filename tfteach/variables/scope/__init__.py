"""Variables by name: created once, and shared where a scope allows it.

Inputs are names and the arguments of `get_variable`; results are the variables of
tfteach.variables.  Read `store.py` (one graph's variables), `variable_scope.py`
(scopes), `get_variable.py` (opening scopes, `tf.get_variable`), `template.py`,
`create_partitioned.py`.
"""

from tfteach.variables.scope.get_variable import get_variable as get_variable
from tfteach.variables.scope.get_variable import (
    get_variable_scope as get_variable_scope,
)
from tfteach.variables.scope.get_variable import variable_scope as variable_scope
from tfteach.variables.scope.reuse import AUTO_REUSE as AUTO_REUSE
from tfteach.variables.scope.template import make_template as make_template
from tfteach.variables.scope.variable_scope import VariableScope as VariableScope
