"""Follow the regularized leader.  Source: python/training/ftrl.py."""

from __future__ import annotations

from typing import Any

from tfteach.framework.export import export
from tfteach.framework.scope import colocate_with
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.training.single_op_optimizer import (
    RuleOptimizer,
    UpdateOps,
    check_strengths,
)
from tfteach.ops.training.proximal_ftrl import (
    ApplyFtrl,
    ApplyFtrlV2,
    ResourceApplyFtrl,
    ResourceApplyFtrlV2,
    ResourceSparseApplyFtrl,
    ResourceSparseApplyFtrlV2,
    SparseApplyFtrl,
    SparseApplyFtrlV2,
)


@export("train.FtrlOptimizer")
class FtrlOptimizer(RuleOptimizer):
    """FTRL: the weights that are optimal for all past gradients, regularized.

    With `n += g ** 2` and p = `learning_rate_power`,
    `z += g - (n ** -p - n_before ** -p) / learning_rate * w`, then
    `w = -sign(z) * max(|z| - l1, 0) / (n ** -p / learning_rate + 2 * l2)`

    Args:
      learning_rate: a number or a scalar Tensor.
      learning_rate_power: the exponent with which the rate falls with n; 0 or negative.
      initial_accumulator_value: the initial value of n, 0 or positive.
      l1_regularization_strength: l1, a non-negative number.
      l2_regularization_strength: l2, a non-negative number.
      use_locking: whether concurrent updates of a variable are excluded.
      name: the name scope of the updates.
      accum_name: the name of the variable n, below w's name; `name` if None.
      linear_name: the name of the variable z; `name` with a number if None.
      l2_shrinkage_regularization_strength: adds this times 2 w to the gradient in z.

    The slots are "accum" (n) and "linear" (z).

    Raises:
      ValueError: an argument has the wrong sign.

    Example:
      >>> train = tf.train.FtrlOptimizer(
      ...     0.1, l1_regularization_strength=0.01).minimize(loss)

    Source: McMahan et al. 2013, "Ad Click Prediction: a View from the Trenches";
    ApplyFtrl and ApplyFtrlV2 in core/ops/training_ops.cc.
    """

    _dense = UpdateOps(ApplyFtrl, ResourceApplyFtrl)
    _sparse = UpdateOps(SparseApplyFtrl, ResourceSparseApplyFtrl)
    _state = ("accum", "linear")

    def __init__(
        self,
        learning_rate: TensorLike,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "Ftrl",
        accum_name: str | None = None,
        linear_name: str | None = None,
        l2_shrinkage_regularization_strength: float = 0.0,
    ) -> None:
        super().__init__(use_locking, name)
        check_strengths(initial_accumulator_value=initial_accumulator_value)
        if learning_rate_power > 0.0:
            raise ValueError(
                f"learning_rate_power {learning_rate_power:f} needs to be negative or "
                "zero"
            )
        strengths = {
            "l1_regularization_strength": l1_regularization_strength,
            "l2_regularization_strength": l2_regularization_strength,
            "l2_shrinkage_regularization_strength": (
                l2_shrinkage_regularization_strength
            ),
        }
        check_strengths(**strengths)
        inputs = zip(("l1", "l2", "l2_shrinkage"), strengths.items(), strict=True)
        self._given = {
            "lr": ("learning_rate", learning_rate),
            **dict(inputs),
            "lr_power": ("learning_rate_power", learning_rate_power),
        }
        self._initial = initial_accumulator_value
        if l2_shrinkage_regularization_strength > 0.0:
            self._dense = UpdateOps(ApplyFtrlV2, ResourceApplyFtrlV2)
            self._sparse = UpdateOps(SparseApplyFtrlV2, ResourceSparseApplyFtrlV2)
        self._accum_name, self._linear_name = accum_name, linear_name

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            with colocate_with(var):
                start = self._start(self._initial, var)
                self._get_or_make_slot(
                    var, start, "accum", self._accum_name or self._name
                )
                self._zeros_slot(var, "linear", self._linear_name or self._name)
