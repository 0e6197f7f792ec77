"""Functions with custom gradients.

Source: python/ops/custom_gradient.py, nn_impl.py (swish).
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable
from typing import Any

from tfteach.autodiff.gradient_registry import RegisterGradient
from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.core.identity_reshape import IdentityN, identity, identity_n
from tfteach.ops.math.exponential import sigmoid

_numbers = itertools.count()


@export("custom_gradient")
def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: the function also returns its gradient function.

    Args:
      f: a function of Tensors that returns (result, grad_fn): a Tensor or a list of
        them, and a function from the gradients of the results to those of the
        arguments.

    Returns:
      A function of values convertible to Tensors, which returns the result of `f`.

    Raises:
      ValueError: (when called) keyword arguments are given.
      TypeError: (when called) `f` uses variables that are not arguments.
      NotImplementedError: (when called) `grad_fn` accepts `variables`.

    Example:
      >>> @tf.custom_gradient
      ... def twice(x):
      ...     return x * 2.0, lambda dy: dy * 2.0

    Source: python/ops/custom_gradient.py.
    """

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise ValueError(
                "The custom_gradient decorator currently supports keywords arguments "
                "only when eager execution is enabled."
            )
        inputs = [convert(x) for x in args]
        result, grad_fn = f(*inputs)
        results = list(result) if isinstance(result, list | tuple) else [result]
        for tensor in results:
            identity(tensor)  # TF adds these as a starting point to look for variables
        _refuse_variables(results, inputs, grad_fn)
        name = f"CustomGradient-{next(_numbers)}"

        @RegisterGradient(name)
        def rule(op: Operation, *grads: Any) -> list[Any]:
            found = grad_fn(*grads[: len(results)])
            own = list(found) if isinstance(found, list | tuple) else [found]
            return [*([None] * len(results)), *own]

        with get_default_graph().gradient_override_map({IdentityN.op_type: name}):
            outputs = identity_n([*results, *inputs])[: len(results)]
        if isinstance(result, list | tuple):
            return type(result)(outputs)
        return outputs[0]

    return decorated


def _refuse_variables(
    results: list[Tensor], inputs: list[Tensor], grad_fn: Callable[..., Any]
) -> None:
    """Reject variables between the arguments and the results."""
    signature = inspect.getfullargspec(grad_fn)
    if "variables" in signature.args + signature.kwonlyargs or signature.varkw:
        raise NotImplementedError(
            "custom_gradient: grad_fn's argument 'variables' is not supported: "
            "pass the variables' values as arguments."
        )
    seen = {tensor.op for tensor in inputs}
    waiting = [tensor.op for tensor in results]
    while waiting:
        op = waiting.pop()
        if op in seen:
            continue
        seen.add(op)
        if op.spec.returns_handle:
            raise TypeError(
                "If using @custom_gradient with a function that uses variables, then "
                "grad_fn must accept a keyword argument 'variables'. Found "
                f"{op.name}: pass its value as an argument."
            )
        waiting += [tensor.op for tensor in op.inputs]


@export("nn.swish")
@custom_gradient
def swish(features: TensorLike) -> Any:
    """`x * sigmoid(x)`.

    Args:
      features: float Tensor of any shape.

    Returns:
      A Tensor like `features`; its gradient recomputes the sigmoid instead of storing
      it.

    Example:
      >>> tf.nn.swish([0.0, 1.0])  # 0., 0.731

    Source: python/ops/nn_impl.py; Ramachandran et al. 2017 (arXiv:1710.05941).
    """
    features = convert(features, name="features")

    def grad(dy: Any) -> Any:
        with get_default_graph().control_dependencies([dy]):
            gate = sigmoid(features)
        return dy * (gate * (1.0 + features * (1.0 - gate)))

    return features * sigmoid(features), grad
