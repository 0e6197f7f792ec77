"""What a split of a leaf gains, from the sums of gradients and hessians beside it.

In a second-order approximation of the loss, the best weight of a leaf, whose examples
have gradients summing to g and hessians summing to h, is -g / (h + l2), where l1 first
moves g towards 0.  This reduces the loss by half of its gain, g^2 / (h + l2).

Source: core/kernels/boosted_trees/tree_helper.h; T. Chen, C. Guestrin, "XGBoost: A
Scalable Tree Boosting System", 2016.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_SMALLEST = np.float32(1e-15)  # of a sum of hessians that a leaf is computed from


def weights_and_gains(g: Any, h: Any, l1: Any, l2: Any) -> tuple[Any, Any]:
    """The best weights of leaves for one logit, and what they gain.

    Args:
      g: float32, sums of gradients.
      h: float32 of the same shape, sums of hessians.
      l1: float32, the penalty of a weight's absolute value.
      l2: float32, the penalty of half its square.
    """
    if l1 > 0:
        g = np.where(g > l1, g - l1, np.where(g < -l1, g + l1, np.float32(0)))
    below = h + l2
    is_defined = ~(below <= _SMALLEST)
    weights = -g / np.where(is_defined, below, np.float32(1))
    weights = np.where(is_defined, weights, np.float32(0))
    return weights, -g * weights


def vector_weights_and_gains(g: Any, h: Any, l2: Any) -> tuple[Any, Any]:
    """The same for several logits, without a penalty of absolute values.

    Args:
      g: float32 of shape [..., logits].
      h: float32 of shape [..., logits], or [..., logits * logits] for full hessians,
        column by column.
      l2: float32.
    """
    logits = g.shape[-1]
    if h.shape[-1] == logits:
        # Unlike that of one logit, a negative or tiny sum of hessians counts.
        below = h + l2
        is_defined = below != 0
        weights = -g / np.where(is_defined, below, np.float32(1))
        weights = np.where(is_defined, weights, np.float32(0))
        return weights, -(g * weights).sum(axis=-1)
    full = h.reshape(*h.shape[:-1], logits, logits)
    full = full.swapaxes(-1, -2) + l2 * np.eye(logits, dtype=np.float32)
    weights = np.empty_like(g)
    for index in np.ndindex(g.shape[:-1]):
        weights[index] = _solved(full[index], -g[index])
    return weights, -(g * weights).sum(axis=-1)


def _solved(matrix: Any, right: Any) -> Any:
    """Solve by QR with pivoted columns: those beyond the rank get weight 0."""
    from scipy.linalg import qr, solve_triangular

    if not matrix.any():
        return np.zeros_like(right)
    q, r, order = qr(matrix, pivoting=True)
    scale = np.finfo(np.float32).eps * len(right) * abs(r[0, 0])
    rank = int(np.sum(np.abs(np.diag(r)) > scale))
    found = np.zeros_like(right)
    found[order[:rank]] = solve_triangular(r[:rank, :rank], (q.T @ right)[:rank])
    return found
