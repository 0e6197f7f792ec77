"""`optimize_loss`: a training step with update ops, clipping and summaries.

Source: contrib/layers/python/layers/optimizers.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.control.checks.ranks import assert_scalar
from tfteach.framework.convert import convert
from tfteach.framework.export import export_value
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import get_collection
from tfteach.framework.type_aliases import Hyperparameter, TensorLike
from tfteach.lib.contrib.layers.utils import public
from tfteach.lib.training.adagrad import AdagradOptimizer
from tfteach.lib.training.adam import AdamOptimizer
from tfteach.lib.training.ftrl import FtrlOptimizer
from tfteach.lib.training.global_step import assert_global_step, get_global_step
from tfteach.lib.training.gradient_descent import GradientDescentOptimizer
from tfteach.lib.training.momentum import MomentumOptimizer
from tfteach.lib.training.optimizer import Optimizer
from tfteach.lib.training.rmsprop import RMSPropOptimizer
from tfteach.ops.core.control_flow_ops import with_dependencies
from tfteach.ops.debug.summary_functions import histogram, scalar
from tfteach.ops.math.cast import cast
from tfteach.ops.nn.clip_by_norm import clip_by_global_norm, global_norm
from tfteach.ops.random.random_ops import truncated_normal
from tfteach.variables.collections import trainable_variables
from tfteach.variables.initializers import Constant
from tfteach.variables.scope import get_variable, variable_scope

OPTIMIZER_CLS_NAMES = {
    "Adagrad": AdagradOptimizer,
    "Adam": AdamOptimizer,
    "Ftrl": FtrlOptimizer,
    "Momentum": lambda learning_rate: MomentumOptimizer(learning_rate, momentum=0.9),
    "RMSProp": RMSPropOptimizer,
    "SGD": GradientDescentOptimizer,
}
OPTIMIZER_SUMMARIES = [
    "learning_rate",
    "loss",
    "gradients",
    "gradient_norm",
    "global_gradient_norm",
]
export_value(
    __name__,
    OPTIMIZER_CLS_NAMES="contrib.layers.OPTIMIZER_CLS_NAMES "
    "contrib.slim.OPTIMIZER_CLS_NAMES",
    OPTIMIZER_SUMMARIES="contrib.layers.OPTIMIZER_SUMMARIES "
    "contrib.slim.OPTIMIZER_SUMMARIES",
)


@public("optimize_loss")
def optimize_loss(
    loss: TensorLike,
    global_step: TensorLike,
    learning_rate: Hyperparameter,
    optimizer: Any,
    gradient_noise_scale: Any = None,
    gradient_multipliers: Any = None,
    clip_gradients: Any = None,
    learning_rate_decay_fn: Any = None,
    update_ops: Sequence[Any] | None = None,
    variables: Any = None,
    name: str | None = None,
    summaries: Any = None,
    colocate_gradients_with_ops: bool = False,
    increment_global_step: bool = True,
) -> Tensor:
    """A training step: a Tensor of the loss that updates the variables when it runs.

    Args:
      loss: scalar Tensor.
      global_step: the step's variable; the graph's if None.
      learning_rate: a float, a scalar Tensor, or None if `optimizer` has one.
      optimizer: "Adagrad", "Adam", "Ftrl", "Momentum", "RMSProp" or "SGD"; a class; an
        Optimizer; or a function of the learning rate that returns one.
      gradient_noise_scale: the deviation of the noise added to the gradients.
      gradient_multipliers: a dict from variables (or their names) to factors.
      clip_gradients: the maximum global norm, or a function of (gradient, variable)
        pairs.
      learning_rate_decay_fn: a function of learning rate and global step.
      update_ops: operations to run first; those in `tf.GraphKeys.UPDATE_OPS` if None.
      variables: the variables to train; all trainable variables if None.
      name: the variable scope; "OptimizeLoss" if None.
      summaries: a list of "learning_rate", "loss", "gradients", "gradient_norm" and
        "global_gradient_norm".
      colocate_gradients_with_ops: see `Optimizer.compute_gradients`.
      increment_global_step: whether to increment the step.

    Returns:
      A scalar Tensor.

    Raises:
      ValueError: an argument has an unsupported value.

    Example:
      >>> step = tf.contrib.framework.get_or_create_global_step()
      >>> train = tf.contrib.layers.optimize_loss(loss, step, 0.1, "SGD")
    """
    loss = convert(loss)
    assert_scalar(loss)
    if global_step is None:
        global_step = get_global_step()
    else:
        assert_global_step(global_step)
    with variable_scope(name, "OptimizeLoss", [loss, global_step]):
        if update_ops is None:
            update_ops = get_collection(GraphKeys.UPDATE_OPS)
        if update_ops:
            loss = with_dependencies(list(dict.fromkeys(update_ops)), loss)
        rate = _learning_rate(learning_rate)
        summaries = _summaries(summaries)
        if learning_rate is not None and learning_rate_decay_fn is not None:
            if global_step is None:
                raise ValueError("global_step is required for learning_rate_decay_fn.")
            rate = learning_rate_decay_fn(rate, global_step)
            if "learning_rate" in summaries:
                scalar("learning_rate", rate)
        made = _optimizer(optimizer, rate, learning_rate is not None)
        pairs = made.compute_gradients(
            loss,
            trainable_variables() if variables is None else variables,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
        )
        if gradient_noise_scale is not None:
            pairs = [(_noisy(g, gradient_noise_scale), v) for g, v in pairs]
        if gradient_multipliers is not None:
            pairs = [(_times(g, v, gradient_multipliers), v) for g, v in pairs]
            if not pairs:
                raise ValueError(
                    "Empty list of (gradient, var) pairs encountered. This is most "
                    "likely to be caused by an improper value of gradient_multipliers."
                )
        pairs = _clipped_and_shown(pairs, clip_gradients, summaries, loss)
        update = made.apply_gradients(
            pairs,
            global_step=global_step if increment_global_step else None,
            name="train",
        )
        result: Tensor = with_dependencies([update], loss)
        return result


def _learning_rate(given: Any) -> Any:
    """The learning rate as a Tensor; a float becomes a variable."""
    if given is None or (isinstance(given, Tensor) and given.shape.ndims == 0):
        return given
    if not isinstance(given, float):
        raise ValueError(
            f"Learning rate should be 0d Tensor or float. Got {given} of type "
            f"{type(given)}"
        )
    if given < 0.0:
        raise ValueError("Invalid learning_rate %s.", given)
    return get_variable(
        "learning_rate", [], trainable=False, initializer=Constant(given)
    )


def _summaries(given: Any) -> Any:
    if given is None:
        return ["loss", "learning_rate", "global_gradient_norm"]
    for name in given:
        if name not in OPTIMIZER_SUMMARIES:
            raise ValueError(
                f"Summaries should be one of [{', '.join(OPTIMIZER_SUMMARIES)}], you "
                f"provided {name}."
            )
    return given


def _optimizer(given: Any, rate: Any, has_rate: bool) -> Optimizer:
    is_class = isinstance(given, type) and issubclass(given, Optimizer)
    if isinstance(given, str) or is_class:
        if rate is None:
            what = "string" if isinstance(given, str) else "class"
            raise ValueError(
                "Learning rate is None, but should be specified if optimizer is "
                f"{what} ({given})."
            )
        if isinstance(given, str) and given not in OPTIMIZER_CLS_NAMES:
            raise ValueError(
                f"Optimizer name should be one of [{', '.join(OPTIMIZER_CLS_NAMES)}], "
                f"you provided {given}."
            )
        kind: Any = given if is_class else OPTIMIZER_CLS_NAMES[given]
        result: Optimizer = kind(learning_rate=rate)
        return result
    if isinstance(given, Optimizer):
        return given
    if not callable(given):
        raise ValueError(
            "Unrecognized optimizer: should be string, subclass of Optimizer, instance "
            f"of subclass of Optimizer or function with one argument. Got {given}."
        )
    made = given(rate) if has_rate else given()
    if not isinstance(made, Optimizer):
        raise ValueError(
            "Unrecognized optimizer: function should return subclass of Optimizer. "
            f"Got {made}."
        )
    return made


def _noisy(gradient: Any, scale: Any) -> Any:
    if gradient is None:
        return None
    is_sparse = isinstance(gradient, IndexedSlices)
    size = gradient.dense_shape if is_sparse else gradient.shape
    return gradient + truncated_normal(size) * scale


def _times(gradient: Any, variable: Any, factors: Any) -> Any:
    key = next((k for k in (variable, variable.name) if k in factors), None)
    if gradient is None or key is None:
        return gradient
    if isinstance(gradient, IndexedSlices):
        return IndexedSlices(
            gradient.values * factors[key], gradient.indices, gradient.dense_shape
        )
    return gradient * cast(factors[key], gradient.dtype)


def _clipped_and_shown(pairs: Any, clip: Any, summaries: Any, loss: Any) -> Any:
    """The pairs with clipped gradients; and summaries of loss, gradients and norms."""
    shows_norm = "global_gradient_norm" in summaries or "gradient_norm" in summaries
    if shows_norm:
        scalar("global_norm/gradient_norm", global_norm([g for g, _ in pairs]))
    if isinstance(clip, float):
        clipped, _ = clip_by_global_norm([g for g, _ in pairs], clip)
        pairs = list(zip(clipped, [v for _, v in pairs], strict=True))
    elif callable(clip):
        pairs = clip(pairs)
    elif clip is not None:
        raise ValueError(f"Unknown type {type(clip)} for clip_gradients")
    if "loss" in summaries:
        scalar("loss", loss)
    for gradient, variable in pairs:
        values = gradient.values if isinstance(gradient, IndexedSlices) else gradient
        if values is None:
            continue
        name = variable.name.replace(":", "_")
        if "gradients" in summaries:
            histogram(f"gradients/{name}", values)
        if "gradient_norm" in summaries:
            scalar(f"gradient_norm/{name}", global_norm([values]))
    if clip is not None and shows_norm:
        norm = global_norm([g for g, _ in pairs])
        scalar("global_norm/clipped_gradient_norm", norm)
    return pairs
