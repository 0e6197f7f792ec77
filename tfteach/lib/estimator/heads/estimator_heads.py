"""`tf.estimator.Head` and its subclasses: heads of programs for TensorFlow 2.

Their losses, predictions and the numbers and names of their metrics are TensorFlow's.
The metrics are made of `tf.metrics`, not of Keras' objects, which `Head.metrics` and
`Head.update_metrics` would return.
Source: tensorflow_estimator/python/estimator/head/base_head.py.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, Protocol, TypeAlias

from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.estimator.estimator_spec import EstimatorSpec
from tfteach.lib.estimator.heads.head import Predictions, SingleHead, TrainOpFn
from tfteach.lib.estimator.mode_keys import ModeKeys
from tfteach.lib.losses.reduction_v2 import ReductionV2
from tfteach.lib.losses.weighted import Reduction
from tfteach.ops.core.control_flow_ops import group
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.math.add_n import add_n

_REDUCTIONS = {
    ReductionV2.AUTO: Reduction.SUM_OVER_BATCH_SIZE,
    ReductionV2.SUM: Reduction.SUM,
    ReductionV2.SUM_OVER_BATCH_SIZE: Reduction.SUM_OVER_BATCH_SIZE,
}


# Those of a head, or of several heads by name.
Logits: TypeAlias = "TensorLike | Mapping[str, TensorLike]"
Labels: TypeAlias = (
    "TensorLike | SparseTensor | Mapping[str, TensorLike | SparseTensor] | None"
)


class UpdatingOptimizer(Protocol):
    """An optimizer as Keras' are."""

    def get_updates(self, loss: Tensor, params: list[Any]) -> list[Any]:
        """The ops that update the parameters."""


@export("estimator.Head")
class Head(abc.ABC):
    """Makes losses, predictions, metrics and an EstimatorSpec of logits.

    Source: tensorflow_estimator/python/estimator/head/base_head.py.
    """

    @property
    @abc.abstractmethod
    def name(self) -> str | None:
        """The head's name, or None."""

    @property
    @abc.abstractmethod
    def logits_dimension(self) -> int:
        """The size of the last dimension of logits."""

    @property
    @abc.abstractmethod
    def loss_reduction(self) -> str:
        """How the losses reduce to a scalar: "sum" or "sum_over_batch_size"."""

    @abc.abstractmethod
    def loss(
        self,
        labels: Labels,
        logits: Logits,
        features: Mapping[str, Any] | None = None,
        mode: str | None = None,
        regularization_losses: Sequence[Tensor] | None = None,
    ) -> Tensor:
        """The scalar to minimize.

        Args:
          labels: Tensor [batch, ..., labels]; without the last dimension if it is 1.
          logits: Tensor [batch, ..., logits_dimension].
          features: the features, among which the weights may be.
          mode: a `tf.estimator.ModeKeys`; not used.
          regularization_losses: scalars to add to the loss.
        """

    @abc.abstractmethod
    def predictions(self, logits: Logits) -> Predictions:
        """The predictions by name.

        Args:
          logits: Tensor [batch, ..., logits_dimension].
        """

    def metrics(
        self, regularization_losses: Sequence[Tensor] | None = None
    ) -> NoReturn:
        """Raises NotImplementedError: TensorFlow's are Keras' objects."""
        raise NotImplementedError(
            f"{type(self).__name__}.metrics: Keras' metrics are not implemented; those "
            "of an evaluation are in create_estimator_spec(...).eval_metric_ops"
        )

    def update_metrics(self, *args: object, **kwargs: object) -> NoReturn:
        """Raises NotImplementedError, as `metrics`."""
        self.metrics()

    @abc.abstractmethod
    def create_estimator_spec(
        self,
        features: Mapping[str, Any],
        mode: str,
        logits: Logits,
        labels: Labels = None,
        optimizer: UpdatingOptimizer | None = None,
        trainable_variables: Sequence[Any] | None = None,
        train_op_fn: TrainOpFn | None = None,
        update_ops: Sequence[Any] | None = None,
        regularization_losses: Sequence[Tensor] | None = None,
    ) -> EstimatorSpec:
        """What a model function returns.

        Args:
          features: the features, among which the weights may be.
          mode: a `tf.estimator.ModeKeys`.
          logits: Tensor [batch, ..., logits_dimension].
          labels: Tensor [batch, ..., labels]; not needed for predictions.
          optimizer: an object with `get_updates(loss, params)`, as Keras' optimizers.
          trainable_variables: the variables that it trains, a list or tuple.
          train_op_fn: a function from the loss to the train op, instead of it.
          update_ops: further ops of a training step.
          regularization_losses: scalars to add to the loss.

        Returns:
          A `tf.estimator.EstimatorSpec`.

        Raises:
          ValueError: labels or logits are missing or of another shape, or, to train,
            neither or both of `optimizer` and `train_op_fn` are given.
        """


class HeadOfOne(Head):
    """A head with one objective.

    Args:
      head: computes losses, predictions and metrics.
      loss_reduction: how the losses reduce to a scalar.
    """

    def __init__(self, head: SingleHead, loss_reduction: str) -> None:
        self._head, self._loss_reduction = head, loss_reduction

    @property
    def name(self) -> str | None:
        """The head's name, or None."""
        return self._head.name

    @property
    def logits_dimension(self) -> int:
        """The size of the last dimension of logits."""
        return self._head.logits_dimension

    @property
    def loss_reduction(self) -> str:
        """How the losses reduce to a scalar."""
        return self._loss_reduction

    def loss(
        self,
        labels: Labels,
        logits: Logits,
        features: Mapping[str, Any] | None = None,
        mode: str | None = None,
        regularization_losses: Sequence[Tensor] | None = None,
    ) -> Tensor:
        """The scalar to minimize; see `Head.loss`."""
        found = self._head.create_loss(
            features or {}, mode or ModeKeys.EVAL, logits, labels
        )
        if not regularization_losses:
            return found.training_loss
        return add_n([found.training_loss, add_n(regularization_losses)])

    def predictions(
        self, logits: Logits, keys: Sequence[str] | None = None
    ) -> Predictions:
        """The predictions by name, or those of `keys` only.

        Raises:
          ValueError: there is no prediction of such a name.
        """
        _, found = self._head._predictions(logits)
        for key in keys or ():
            if key not in found:
                raise ValueError(
                    f"Prediction key must be in PredictionKeys, given: {key}.Valid "
                    f"prediction keys include {list(found)}."
                )
        return found if keys is None else {key: found[key] for key in keys}

    def create_estimator_spec(
        self,
        features: Mapping[str, Any],
        mode: str,
        logits: Logits,
        labels: Labels = None,
        optimizer: UpdatingOptimizer | None = None,
        trainable_variables: Sequence[Any] | None = None,
        train_op_fn: TrainOpFn | None = None,
        update_ops: Sequence[Any] | None = None,
        regularization_losses: Sequence[Tensor] | None = None,
    ) -> EstimatorSpec:
        """What a model function returns; see `Head.create_estimator_spec`."""
        make_train_op = None
        if mode == ModeKeys.TRAIN:
            make_train_op = checked_train_op_fn(
                optimizer, trainable_variables, train_op_fn, update_ops
            )
        return self._head.create_estimator_spec(
            features,
            mode,
            logits,
            labels,
            train_op_fn=make_train_op,
            regularization_losses=regularization_losses,
        )


def reduction_of(loss_reduction: Any) -> str:
    """The `tf.losses.Reduction` of the same meaning.

    Raises:
      ValueError: it is not a valid reduction of a head.
    """
    if loss_reduction not in _REDUCTIONS:
        raise ValueError(
            f"Invalid loss_reduction: {loss_reduction}. See `tf.losses.Reduction` for "
            "valid options."
        )
    return _REDUCTIONS[loss_reduction]


def checked_train_op_fn(
    optimizer: Any,
    trainable_variables: Any,
    train_op_fn: TrainOpFn | None,
    update_ops: Sequence[Any] | None,
) -> Callable[[Tensor], Any]:
    """A function from the loss to the train op.

    Raises:
      ValueError: neither or both ways to train are given, or they are incomplete.
    """
    if optimizer is not None and train_op_fn is not None:
        raise ValueError("train_op_fn and optimizer cannot both be set.")
    if optimizer is None and train_op_fn is None:
        raise ValueError("train_op_fn and optimizer cannot both be None.")
    if optimizer is not None:
        _check_optimizer(optimizer, trainable_variables)

    def make_train_op(loss: Tensor) -> Any:
        if train_op_fn is not None:
            train_op = train_op_fn(loss)
        else:
            train_op = group(*optimizer.get_updates(loss, list(trainable_variables)))
        return group(train_op, *update_ops) if update_ops else train_op

    return make_train_op


def _check_optimizer(optimizer: Any, trainable_variables: Any) -> None:
    if not hasattr(optimizer, "get_updates"):
        raise ValueError(
            "The given optimizer is not a tf.keras.optimizers.Optimizer instance. "
            f"Given: {optimizer}"
        )
    if trainable_variables is None:
        raise ValueError(
            f"trainable_variables cannot be None. Given {trainable_variables}"
        )
    if not isinstance(trainable_variables, list | tuple):
        raise ValueError(
            "trainable_variables should be a list or a tuple. Given type: "
            f"{type(trainable_variables)}."
        )
