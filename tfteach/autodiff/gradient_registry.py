"""Gradient functions: an op's own rule, or one registered by the user.

Source: python/framework/ops.py (RegisterGradient, get_gradient_function).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

from tfteach.framework.export import export
from tfteach.framework.op import Op, op_class
from tfteach.framework.operation import Operation

# By name: the function (None: gradients stop), and where it was registered.
_registered: dict[str, tuple[Callable[..., Any] | None, str]] = {}


def _has_rule(name: str) -> bool:
    cls = op_class(name)
    return cls.stops_gradients or cls.gradient is not Op.gradient


def _register(name: str, rule: Callable[..., Any] | None, depth: int) -> None:
    built_in = _has_rule(name)
    if built_in or name in _registered:
        where = "tfteach" if built_in else _registered[name][1]
        raise KeyError(
            f"Registering two gradient with name '{name}'! (Previous registration was "
            f"in {where})"
        )
    frame = sys._getframe(depth)
    _registered[name] = rule, f"{frame.f_code.co_filename}:{frame.f_lineno}"


_Rule = TypeVar("_Rule", bound=Callable[..., Any])


def gradient_of(*kinds: type[Op]) -> Callable[[_Rule], _Rule]:
    """Decorator: registers (op, *grads) as the `gradient` of op types.

    Only for rules that require functions based on ops, such as control flow; every
    other rule is a method next to its kernel.
    """

    def attach(rule: _Rule) -> _Rule:
        for kind in kinds:
            if kind.gradient is not Op.gradient:
                raise KeyError(f"{kind.op_type} has a gradient already")
            setattr(kind, "gradient", lambda _, op, *grads: rule(op, *grads))  # noqa: B010
        return rule

    return attach


@export("RegisterGradient")
class RegisterGradient:
    """Decorator: registers the function as the gradient of an op type.

    Args:
      op_type: an op type without a gradient, or any unused name, for use with
        `Graph.gradient_override_map`.

    Raises:
      KeyError: (on decorating) the name already has a gradient.

    Example:
      >>> @tf.RegisterGradient("Clipped")
      ... def clipped(op, grad):
      ...     return tf.clip_by_value(grad, -1.0, 1.0)
      >>> with tf.get_default_graph().gradient_override_map({"Identity": "Clipped"}):
      ...     y = tf.identity(x)

    Source: python/framework/ops.py.
    """

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        _register(self._op_type, f, 2)
        return f


@export("NotDifferentiable", "NoGradient", "no_gradient")
def NotDifferentiable(op_type: str) -> None:
    """Declare that an op type has no gradient, so that `tf.gradients` returns None.

    Args:
      op_type: the op type.

    Raises:
      TypeError: `op_type` is not a string.
      KeyError: it already has a gradient.

    Example:
      >>> tf.NotDifferentiable("MyCounter")
    """
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    _register(op_type, None, 2)


def gradient_rule(op: Operation) -> Callable[..., Any] | None:
    """The function (op, *grads) -> gradients of the inputs; None: not differentiable.

    Raises:
      LookupError: the op's type has no rule.
    """
    if not op.inputs:
        return None
    kind = op.type
    if op.extra_attrs:
        override = op.extra_attrs.get("_gradient_op_type")
        if override is not None:
            kind = override.decode() if isinstance(override, bytes) else override
    if kind in _registered:
        return _registered[kind][0]
    is_own = kind == op.type
    cls = type(op.spec) if is_own else op_class(kind)
    if is_own and cls.calls_function:
        return op.spec.gradient
    if cls.stops_gradients:
        return None
    if cls.gradient is not Op.gradient:
        if is_own:
            return op.spec.gradient
        # Overridden by another op type's rule, which receives this op's attributes.
        return lambda node, *grads: cls.gradient(node.spec, node, *grads)
    raise LookupError(
        f"No gradient defined for operation '{op.name}' (op type: {op.type})"
    )
