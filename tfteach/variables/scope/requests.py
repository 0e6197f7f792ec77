"""Records of `get_variable` calls, for tfteach.explain.graphs.sharing."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

from tfteach.framework.call_origin import Origin


class Asked(NamedTuple):
    """The scopes in which `get_variable` is called.

    Attributes:
      name_scope, variable_scope: their prefixes, without the final slash.
      users_scope: the prefix of the innermost scope that the user's code opened.
      reuse: of the variable scope: True, tf.AUTO_REUSE, or a false value.
    """

    name_scope: str
    variable_scope: str
    users_scope: str
    reuse: Any


class Asking(threading.local):
    """The scopes of this thread's current call."""

    def __init__(self) -> None:
        self.asked = Asked("", "", "", False)


class Request(NamedTuple):
    """A completed `get_variable` call: its result, and its origin.

    Attributes:
      name: the full name requested.
      variable: the variable returned.
      made: whether it was created by this call.
      origin: the user's call; None if unknown.
      order: as in the graph's records of collections.
      version: the number of ops that the graph then had.
      asked: the scopes of the call.
    """

    name: str
    variable: Any
    made: bool
    origin: Origin | None
    order: int
    version: int
    asked: Asked
