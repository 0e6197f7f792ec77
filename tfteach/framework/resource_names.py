"""The names of a session's resources, and what a run returns for their handles.

Source: core/framework/resource_mgr.cc, ContainerInfo.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

# The name of a resource without `shared_name` starts with its number in the process.
_numbers = itertools.count()


def resource_name(shared_name: str, node_name: str) -> str:
    """`shared_name`; without one the node's name after a new number."""
    return shared_name or f"_{next(_numbers)}_{node_name}"


class ReferencedResource:
    """A queue, reader or table, to which a handle refers.

    Attributes:
      name: its name among the session's resources.
    """

    name: str

    @property
    def value(self) -> Any:
        """A reference to it, as a run returns: the container and the name."""
        return np.array([b"localhost", self.name.encode()], object)
