"""Types of what strategies take and return.

They depend on the user's functions, which a type checker cannot see.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# Of each replica one, of any structure of Tensors and variables; or one for all.
Value = Any
# Where values go: the name of a device, or a variable or values that stand there.
Destinations = Any
# What a user's function returned, in each replica or on each device.
Result = Any
# Of a dataset, its batches for all replicas together.
Batches = Any
Function = Callable[..., Any]
