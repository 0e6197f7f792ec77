"""`tensorflow.python.util.tf_inspect`: Python's `inspect`, as programs import it.

Source: python/util/tf_inspect.py (API).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from inspect import FullArgSpec as FullArgSpec
from inspect import currentframe as currentframe
from inspect import getcallargs as getcallargs
from inspect import getdoc as getdoc
from inspect import getfile as getfile
from inspect import getmembers as getmembers
from inspect import getmodule as getmodule
from inspect import getmro as getmro
from inspect import getsource as getsource
from inspect import getsourcefile as getsourcefile
from inspect import getsourcelines as getsourcelines
from inspect import isclass as isclass
from inspect import isframe as isframe
from inspect import isfunction as isfunction
from inspect import isgenerator as isgenerator
from inspect import isgeneratorfunction as isgeneratorfunction
from inspect import ismethod as ismethod
from inspect import ismodule as ismodule
from inspect import isroutine as isroutine
from inspect import signature as signature
from inspect import stack as stack
from typing import Any, NamedTuple


class ArgSpec(NamedTuple):
    """The arguments of a function, as Python 2's `inspect.getargspec` returned them."""

    args: list[str]
    varargs: str | None
    keywords: str | None
    defaults: tuple[Any, ...] | None


def getfullargspec(obj: Callable[..., Any]) -> FullArgSpec:
    """The arguments of a function, also of one that decorators wrap."""
    return inspect.getfullargspec(inspect.unwrap(obj))


def getargspec(obj: Callable[..., Any]) -> ArgSpec:
    """The arguments of a function, without those that are keyword-only."""
    return ArgSpec(*getfullargspec(obj)[:4])
