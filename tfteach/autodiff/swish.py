"""`tf.nn.swish`, whose gradient recomputes the sigmoid.

Source: python/ops/nn_impl.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.autodiff.custom_gradient import custom_gradient
from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.math.exponential import sigmoid


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
