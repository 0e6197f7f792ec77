"""Training steps created from a loss and an optimizer.

Source: contrib/slim/python/slim/learning.py, contrib/training/python/training.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import (
    control_dependencies,
    get_collection,
    name_scope,
)
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.training.global_step import get_or_create_global_step
from tfteach.lib.training.optimizer import Optimizer
from tfteach.ops.core.control_flow_ops import no_op, with_dependencies
from tfteach.ops.debug.check_numerics import check_numerics as check
from tfteach.ops.debug.summary_functions import histogram, scalar
from tfteach.ops.nn.clip_by_norm import clip_by_norm, global_norm
from tfteach.variables.collections import trainable_variables

_USE_GLOBAL_STEP = 0


def _sparse_or_not(gradient: Any, change: Any) -> Any:
    """A gradient with `change` applied to its values."""
    if isinstance(gradient, IndexedSlices):
        values = change(gradient.values)
        return IndexedSlices(values, gradient.indices, gradient.dense_shape)
    return change(gradient)


@export(
    "contrib.slim.learning.clip_gradient_norms", "contrib.training.clip_gradient_norms"
)
def clip_gradient_norms(
    gradients_to_variables: Sequence[Any], max_norm: Any
) -> list[Any]:
    """The (gradient, variable) pairs with each gradient clipped to norm `max_norm`."""
    return [
        (
            None
            if g is None
            else _sparse_or_not(g, lambda x: clip_by_norm(x, max_norm)),
            v,
        )
        for g, v in gradients_to_variables
    ]


@export("contrib.training.clip_gradient_norms_fn")
def clip_gradient_norms_fn(
    max_norm: TensorLike,
) -> Callable[[Sequence[Any]], list[Any]]:
    """`clip_gradient_norms` with its limit, for `create_train_op(transform_grads_fn)`.

    Example:
      >>> clip = tf.contrib.training.clip_gradient_norms_fn(3.0)
      >>> optimizer = tf.train.GradientDescentOptimizer(0.1)
      >>> tf.contrib.training.create_train_op(loss, optimizer, transform_grads_fn=clip)
    """

    def clip(grads_and_vars: Sequence[Any]) -> list[Any]:
        return clip_gradient_norms(grads_and_vars, max_norm)

    return clip


@export(
    "contrib.slim.learning.multiply_gradients", "contrib.training.multiply_gradients"
)
def multiply_gradients(
    grads_and_vars: Sequence[Any], gradient_multipliers: Any
) -> list[Any]:
    """The (gradient, variable) pairs with some gradients multiplied by a factor.

    Args:
      grads_and_vars: a list of pairs.
      gradient_multipliers: a dict from variables (or their names) to factors.

    Raises:
      ValueError: the arguments are invalid, or a gradient with a factor is None.
    """
    if not isinstance(grads_and_vars, list):
        raise ValueError("`grads_and_vars` must be a list.")
    if not gradient_multipliers:
        raise ValueError("`gradient_multipliers` is empty.")
    if not isinstance(gradient_multipliers, dict):
        raise ValueError("`gradient_multipliers` must be a dict.")
    found = []
    for gradient, variable in grads_and_vars:
        keys = (variable, variable.op.name)
        key = next((k for k in keys if k in gradient_multipliers), None)
        if key is not None:
            if gradient is None:
                raise ValueError("Requested multiple of `None` gradient.")
            factor = gradient_multipliers[key]

            def change(values: Any, factor: Any = factor) -> Any:
                return values * convert(factor, dtype=values.dtype)

            gradient = _sparse_or_not(gradient, change)
        found.append((gradient, variable))
    return found


@export("contrib.slim.learning.add_gradients_summaries")
def add_slim_gradients_summaries(grads_and_vars: Sequence[Any]) -> list[Any]:
    """A histogram and the norm of each gradient: "variable/gradient" ..."""
    return _gradient_summaries(grads_and_vars, "/")


@export("contrib.training.add_gradients_summaries")
def add_gradients_summaries(grads_and_vars: Sequence[Any]) -> list[Any]:
    """A histogram and the norm of each gradient: "variable_gradient" ..."""
    return _gradient_summaries(grads_and_vars, "_")


def _gradient_summaries(grads_and_vars: Any, link: str) -> list[Any]:
    found = []
    for gradient, variable in grads_and_vars:
        if gradient is None:
            continue
        values = gradient.values if isinstance(gradient, IndexedSlices) else gradient
        name = variable.op.name
        found.append(histogram(f"{name}{link}gradient", values))
        found.append(scalar(f"{name}{link}gradient_norm", global_norm([values])))
    return found


def _train_op(
    total_loss: Any,
    optimizer: Optimizer,
    global_step: Any,
    update_ops: Any,
    variables_to_train: Any,
    transform: Any,
    summarize_gradients: bool,
    options: dict[str, Any],
    check_numerics: bool,
) -> Tensor:
    if global_step is _USE_GLOBAL_STEP:
        global_step = get_or_create_global_step()
    if update_ops is None:
        update_ops = get_collection(GraphKeys.UPDATE_OPS)
    if update_ops:
        with control_dependencies(list(dict.fromkeys(update_ops))):
            barrier = no_op(name="update_barrier")
        total_loss = with_dependencies([barrier], total_loss)
    if variables_to_train is None:
        variables_to_train = trainable_variables()
    assert variables_to_train, "there are no variables to train"
    pairs: Any = optimizer.compute_gradients(total_loss, variables_to_train, **options)
    if transform is not None:
        pairs = transform(pairs)
    if summarize_gradients:
        with name_scope("summarize_grads"):
            add_gradients_summaries(pairs)
    update = optimizer.apply_gradients(pairs, global_step=global_step)
    with name_scope("train_op"):
        if check_numerics:
            total_loss = check(total_loss, "LossTensor is inf or nan")
        step: Tensor = with_dependencies([update], total_loss)
    graph = get_default_graph()
    if not any(member is step for member in graph.collection_list(GraphKeys.TRAIN_OP)):
        graph.add_to_collection(GraphKeys.TRAIN_OP, step)
    return step


@export("contrib.training.create_train_op")
def create_train_op(
    total_loss: Any,
    optimizer: Optimizer,
    global_step: TensorLike = _USE_GLOBAL_STEP,
    update_ops: Sequence[Any] | None = None,
    variables_to_train: Sequence[Any] | None = None,
    transform_grads_fn: Callable[..., Any] | None = None,
    summarize_gradients: bool = False,
    gate_gradients: int = Optimizer.GATE_OP,
    aggregation_method: Any = None,
    colocate_gradients_with_ops: bool = False,
    check_numerics: bool = True,
) -> Tensor:
    """`tf.contrib.slim.learning.create_train_op` with a function of the gradients.

    Args:
      transform_grads_fn: a function from (gradient, variable) pairs to such pairs.
      others: see there.
    """
    options = {
        "gate_gradients": gate_gradients,
        "aggregation_method": aggregation_method,
        "colocate_gradients_with_ops": colocate_gradients_with_ops,
    }
    return _train_op(
        total_loss, optimizer, global_step, update_ops, variables_to_train,
        transform_grads_fn, summarize_gradients, options, check_numerics,
    )  # fmt: skip


@export("contrib.slim.learning.create_train_op")
def create_slim_train_op(
    total_loss: TensorLike,
    optimizer: Optimizer,
    global_step: TensorLike = _USE_GLOBAL_STEP,
    update_ops: Sequence[Any] | None = None,
    variables_to_train: Sequence[Any] | None = None,
    clip_gradient_norm: Any = 0,
    summarize_gradients: bool = False,
    gate_gradients: int = Optimizer.GATE_OP,
    aggregation_method: Any = None,
    colocate_gradients_with_ops: bool = False,
    gradient_multipliers: Any = None,
    check_numerics: bool = True,
) -> Tensor:
    """A training step: a Tensor of the loss that updates the variables when it runs.

    Args:
      total_loss: scalar Tensor.
      optimizer: an Optimizer.
      global_step: the step's variable; None: do not count; by default the graph's.
      update_ops: operations to run first; those in `tf.GraphKeys.UPDATE_OPS` if None.
      variables_to_train: all trainable variables if None.
      clip_gradient_norm: the maximum norm of each gradient; 0 for no limit.
      summarize_gradients: whether to add summaries of them.
      gate_gradients, aggregation_method, colocate_gradients_with_ops: see
        `Optimizer.compute_gradients`.
      gradient_multipliers: a dict from variables (or their names) to factors.
      check_numerics: whether the step fails when the loss is infinite or NaN.

    Returns:
      A scalar Tensor, also added to `tf.GraphKeys.TRAIN_OP`.

    Example:
      >>> optimizer = tf.train.GradientDescentOptimizer(0.1)
      >>> step = tf.contrib.slim.learning.create_train_op(loss, optimizer)
    """

    def transform(pairs: Any) -> Any:
        if gradient_multipliers:
            with name_scope("multiply_grads"):
                pairs = multiply_gradients(pairs, gradient_multipliers)
        if clip_gradient_norm > 0:
            with name_scope("clip_grads"):
                pairs = clip_gradient_norms(pairs, clip_gradient_norm)
        return pairs

    options = {
        "gate_gradients": gate_gradients,
        "aggregation_method": aggregation_method,
        "colocate_gradients_with_ops": colocate_gradients_with_ops,
    }
    return _train_op(
        total_loss, optimizer, global_step, update_ops, variables_to_train,
        transform, summarize_gradients, options, check_numerics,
    )  # fmt: skip
