"""`tfe.defun`: traced functions, each of whose traces may create variables.

Source: python/eager/function.py (API and messages).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.tensor_spec import TensorSpec
from tfteach.framework.type_aliases import Nested, Structure
from tfteach.lib.functions.concrete_function import ConcreteFunction
from tfteach.lib.functions.function_spec import validate_signature
from tfteach.lib.functions.traced_code import converted, unconverted
from tfteach.lib.functions.traced_function import TracedFunction


@export("contrib.eager.defun")
def defun(
    func: Callable[..., Any] | None = None,
    input_signature: Nested[TensorSpec] | None = None,
    autograph: bool = True,
    experimental_autograph_options: Structure = None,
    experimental_relax_shapes: bool = False,
) -> Callable[..., Structure]:
    """`tf.function`, except that each trace may create variables.

    Args:
      func: the function; None for use as a decorator with arguments.
      input_signature, autograph, experimental_autograph_options,
      experimental_relax_shapes: as for `tf.function`.

    Returns:
      A callable with `get_concrete_function(...)` and `python_function`.

    Raises:
      TypeError: `input_signature` holds something else than TensorSpecs.

    Example:
      >>> double = tf.contrib.eager.defun(lambda x: x * 2.0)

    Source: python/eager/function.py.
    """
    return defun_with_attributes(
        func,
        input_signature,
        None,
        autograph,
        experimental_autograph_options,
        experimental_relax_shapes,
    )


def defun_with_attributes(
    func: Callable[..., Any] | None = None,
    input_signature: Nested[TensorSpec] | None = None,
    attributes: dict[str, Any] | None = None,
    autograph: bool = True,
    experimental_autograph_options: Structure = None,
    experimental_relax_shapes: bool = False,
) -> Callable[..., Any]:
    """`defun`, with attributes of the functions in a graph's library.

    Args:
      func, input_signature, autograph, experimental_autograph_options,
      experimental_relax_shapes: as for `tf.function`.
      attributes: numbers, bools and strings by name; `func_name` is the name of the
        traces.
    """
    if input_signature is not None:
        validate_signature(input_signature)
    attrs = dict(attributes or {})

    def decorated(inner: Callable[..., Any]) -> TracedFunction:
        name = attrs.pop("func_name", None) or getattr(inner, "__name__", "function")
        conversion: Callable[..., Any] = unconverted
        if autograph:
            conversion = functools.partial(
                converted, options=experimental_autograph_options
            )
        return TracedFunction(
            inner,
            name,
            input_signature,
            attrs,
            conversion,
            experimental_relax_shapes,
        )

    return decorated if func is None else decorated(func)


def register(func: Any, *args: Any, **kwargs: Any) -> ConcreteFunction:
    """Add the trace for some arguments to the default graph's library; do not call it.

    Args:
      func: a function of `defun`.
      *args, **kwargs: the arguments.

    Raises:
      ValueError: `func` is no function of `defun`.
    """
    if not isinstance(func, TracedFunction):
        raise ValueError(
            f"Only defun function is allowed to be registered. Got type: {type(func)}"
        )
    concrete = func.get_concrete_function(*args, **kwargs)
    concrete.add_to_graph()
    concrete.add_gradient_functions_to_graph()
    return concrete
