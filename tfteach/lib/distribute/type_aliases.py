"""Types of the arguments and results of strategies.

They depend on the user's functions, which a type checker cannot see.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# Of each replica one, of any structure of Tensors and variables; or one for all.
Value = Any
# Where values go: the name of a device, or a variable or values that stand there.
Destinations = Any
# The result of a user's function, per replica or per device.
Result = Any
# Of a dataset, its batches for all replicas together.
Batches = Any
Function = Callable[..., Any]
