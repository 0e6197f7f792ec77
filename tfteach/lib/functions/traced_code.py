"""What `tf.function` calls while it traces.

AutoGraph is imported when the first function is traced.
Source: python/framework/func_graph.py, python/eager/function.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tfteach.framework.autograph_status import ControlStatusCtx, Status
from tfteach.lib.functions.methods import unbound

if TYPE_CHECKING:
    from tfteach.lib.autograph.options import Features


def converted(function: Callable[..., Any], options: Features) -> Callable[..., Any]:
    """The function with Python's control flow as ops.

    Args:
      function: the function.
      options: features to turn on.
    """
    from tfteach.lib.autograph.calls import convert

    method = unbound(function)
    target = function if method is None else method[0]
    convert_and_call = convert(recursive=True, optional_features=options)(target)

    def call(*args: Any, **kwargs: Any) -> Any:
        if method is not None:
            args = (method[1](), *args)
        with ControlStatusCtx(Status.ENABLED):
            return convert_and_call(*args, **kwargs)

    return call


def unconverted(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, called as it is, as are those that libraries call for it."""

    def call(*args: Any, **kwargs: Any) -> Any:
        with ControlStatusCtx(Status.DISABLED):
            return function(*args, **kwargs)

    return call
