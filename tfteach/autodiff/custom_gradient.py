"""Functions with gradients of their own: `tf.custom_gradient` and what rests on it.

In a graph an IdentityN of the results, the arguments and the variables has the
function's gradient; in an eager program the tapes record the call as one computation.
Source: python/ops/custom_gradient.py.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tfteach.autodiff.gradient_registry import RegisterGradient, gradient_rule
from tfteach.autodiff.gradient_tape import GradientTape
from tfteach.framework import nest
from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.graph import Graph, get_default_graph
from tfteach.framework.graph_collections import VARIABLE_SCOPES
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.recording import record_function, stop_recording
from tfteach.ops.core.identity_reshape import IdentityN, identity, identity_n
from tfteach.ops.state.ref_variables import VariableV2
from tfteach.ops.state.resource_variables import VarHandleOp

GradientFunction = Callable[..., Any]

_numbers = itertools.count()


@export("custom_gradient", "contrib.eager.custom_gradient")
def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: the function also returns its gradient function.

    Args:
      f: a function of Tensors that returns (result, grad_fn): Tensors in any nest, and
        a function from the gradients of the results to those of the arguments.  If `f`
        reads variables, `grad_fn` is called with a list `variables=` of them, and
        returns (gradients of the arguments, a list of the variables' gradients).

    Returns:
      A function of values convertible to Tensors, which returns the result of `f`.

    Raises:
      ValueError: (when called) keyword arguments are given in a graph.
      TypeError: (when called) `f` reads variables, and `grad_fn` does not accept
        `variables`; or `f` creates variables that are no resources.

    Example:
      >>> @tf.custom_gradient
      ... def twice(x):
      ...     return x * 2.0, lambda dy: dy * 2.0

    Source: python/ops/custom_gradient.py.
    """

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        if get_default_graph().is_eager:
            return _run(f, args, kwargs)
        if kwargs:
            raise ValueError(
                "The custom_gradient decorator currently supports keywords arguments "
                "only when eager execution is enabled."
            )
        return _build(f, args)

    return decorated


@export("recompute_grad")
def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function like `f` whose gradient calls `f` again, which saves memory.

    Nothing that `f` computes on the way is held for the gradient.

    Args:
      f: a function that returns a Tensor or a sequence of them.

    Example:
      >>> squared = tf.recompute_grad(lambda x: tf.square(x))

    Source: python/ops/custom_gradient.py.
    """

    @custom_gradient
    def recomputed(*args: Any, **kwargs: Any) -> Any:
        def grad(dresult: Any, variables: Any = None) -> Any:
            sources = list(variables or ())
            with GradientTape() as tape:
                tape.watch(args)
                tape.watch(sources)
                with get_default_graph().control_dependencies([dresult]):
                    again = f(*args, **kwargs)
            grads = tape.gradient(again, [*args, *sources], output_gradients=[dresult])
            return grads[: len(args)], grads[len(args) :]

        return f(*args, **kwargs), grad

    return recomputed


@export("grad_pass_through")
def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function like `f` whose gradient is that of the identity.

    Args:
      f: a function that returns a Tensor, or Tensors, like its arguments.

    Example:
      >>> rounded = tf.grad_pass_through(tf.round)  # a straight-through estimator

    Source: python/ops/custom_gradient.py.
    """

    @functools.wraps(f)
    @custom_gradient
    def passing(*args: Any, **kwargs: Any) -> Any:
        def grad(*grads: Any, **options: Any) -> Any:
            variables = options.get("variables")
            return grads if variables is None else (grads, [None] * len(variables))

        return f(*args, **kwargs), grad

    return passing


# ---- eager programs


def _run(f: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Call `f`, recorded as one computation."""
    with GradientTape() as tape:
        result, grad_fn = f(*args, **kwargs)
    variables = _others(tape.watched_variables(), [*args, *kwargs.values()])
    if variables:
        _check_accepts_variables(grad_fn)
    with stop_recording():
        results = [identity(x) for x in nest.flatten(result)]
    inputs = [convert(x) for x in (*args, *variables)]

    def backward(*grads: Any) -> list[Any]:
        own, of_variables = _gradients(grad_fn, grads, variables)
        if len(own) != len(args):
            raise ValueError(
                "custom_gradient function expected to return", len(args),
                "gradients but returned", len(own), "instead.",
            )  # fmt: skip
        return [*own, *of_variables]

    record_function(results, inputs, backward)
    return nest.pack_sequence_as(result, results)


# ---- graphs


def _build(f: Callable[..., Any], args: Sequence[Any]) -> Any:
    """Add the ops of `f`, and an IdentityN whose gradient is the function's."""
    graph = get_default_graph()
    name = f"CustomGradient-{next(_numbers)}"
    inputs = [convert(x) for x in args]
    before = set(_collected(graph))
    with GradientTape() as tape:
        result, grad_fn = f(*inputs)
    if not all(hasattr(v, "handle") for v in _collected(graph) if v not in before):
        raise TypeError(
            "All variables used by a function wrapped with @custom_gradient must be "
            "`ResourceVariable`s. Ensure that no `variable_scope` is created with "
            "`use_resource=False`."
        )
    results = nest.flatten(result)
    for tensor in results:
        identity(tensor)  # TF adds these as a starting point to look for variables
    found = [*tape.watched_variables(), *_read_between(graph, inputs, results)]
    variables = _others(dict.fromkeys(found), args)
    if variables:
        _check_accepts_variables(grad_fn)
    elif _accepts_variables(grad_fn):
        _check_no_variables(graph)

    @RegisterGradient(name)
    def rule(op: Operation, *grads: Any) -> list[Any]:
        own, of_variables = _gradients(grad_fn, grads[: len(results)], variables)
        return [*([None] * len(results)), *own, *of_variables]

    with graph.gradient_override_map({IdentityN.op_type: name}):
        outputs = identity_n([*results, *inputs, *variables])[: len(results)]
    for variable in variables:
        convert(variable)  # TF reads them once more
    return nest.pack_sequence_as(result, outputs)


def _collected(graph: Graph) -> list[Any]:
    keys = GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES
    return [v for key in keys for v in graph.get_collection(key)]


def _read_between(
    graph: Graph, inputs: Sequence[Tensor], results: Sequence[Tensor]
) -> Iterator[Any]:
    """The trainable variables that results depend on by differentiable ops.

    Raises:
      ValueError: a variable is in no collection of global variables.
    """
    variables = {v.op: v for v in graph.get_collection(GraphKeys.GLOBAL_VARIABLES)}
    seen = {tensor.op for tensor in inputs}
    waiting = [tensor.op for tensor in results]
    while waiting:
        op = waiting.pop()
        if op in seen:
            continue
        seen.add(op)
        if isinstance(op.spec, VariableV2 | VarHandleOp):
            if op not in variables:
                raise ValueError(f"Unsuccessful at finding variable {op.name}.")
            if variables[op].trainable:
                yield variables[op]
        elif _is_differentiable(op):
            waiting += [tensor.op for tensor in op.inputs]


def _is_differentiable(op: Operation) -> bool:
    try:
        return gradient_rule(op) is not None
    except LookupError:
        return False


def _check_no_variables(graph: Graph) -> None:
    """A warning that no variables were read, or an error if they cannot be found."""
    scopes = graph.collection_list(VARIABLE_SCOPES)
    if not (scopes and scopes[0].scope.use_resource):
        raise TypeError(
            "If using @custom_gradient with a function that uses variables, the "
            "enclosing variable scope must have use_resource=True."
        )
    get_logger().warning(
        "@custom_gradient grad_fn has 'variables' in signature, but no "
        "ResourceVariables were used on the forward pass."
    )


# ---- both


def _others(variables: Any, arguments: Sequence[Any]) -> list[Any]:
    return [v for v in variables if all(v is not a for a in arguments)]


def _accepts_variables(grad_fn: GradientFunction) -> bool:
    signature = inspect.getfullargspec(grad_fn)
    names = signature.args + signature.kwonlyargs
    return "variables" in names or signature.varkw is not None


def _check_accepts_variables(grad_fn: GradientFunction) -> None:
    if not _accepts_variables(grad_fn):
        raise TypeError(
            "If using @custom_gradient with a function that uses variables, then "
            "grad_fn must accept a keyword argument 'variables'."
        )


def _gradients(
    grad_fn: GradientFunction, grads: Sequence[Any], variables: Sequence[Any]
) -> tuple[list[Any], list[Any]]:
    """What a gradient function returns for the arguments, and for the variables."""
    if not variables:
        return nest.flatten(grad_fn(*grads)), []
    own, of_variables = grad_fn(*grads, variables=variables)
    if len(of_variables) != len(variables):
        raise ValueError(
            "Must return gradient for each variable from @custom_gradient grad_fn."
        )
    return nest.flatten(own), list(of_variables)
