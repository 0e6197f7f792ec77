"""The ops that a dataset consists of.

Source: python/data/util/traverse.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfteach.framework.dtypes import variant
from tfteach.framework.operation import Operation

if TYPE_CHECKING:
    from tfteach.lib.data.base import DatasetBase


def obtain_all_variant_tensor_ops(dataset: DatasetBase) -> list[Operation]:
    """The ops between a dataset and its sources: those that produce variants.

    Returns:
      The ops, each once, beginning with the dataset's own.
    """
    found: list[Operation] = []
    pending = [dataset._variant_tensor.op]
    while pending:
        op = pending.pop(0)
        if op in found:
            continue
        found.append(op)
        pending += [t.op for t in op.inputs if t.dtype is variant]
    return found
