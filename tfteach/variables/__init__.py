"""Variables: state that a session retains between runs.

Inputs are initial values; results are `Variable` objects, which convert to the tensors
that read them.  Read `base.py` (the public class, and the choice of kind), `ref.py` and
`resource.py` (the two kinds), `partitioned.py`, `collections.py` (the collections and
their initializers), `protos.py` (VariableDef).
"""

from tfteach.variables import collections as collections
from tfteach.variables import partitioners as partitioners
from tfteach.variables import ref as ref
from tfteach.variables.base import Variable as Variable
from tfteach.variables.partitioned import PartitionedVariable as PartitionedVariable
from tfteach.variables.ref import RefVariable as RefVariable
from tfteach.variables.resource import ResourceVariable as ResourceVariable
