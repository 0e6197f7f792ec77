"""The parts of batches for the replicas of a model.

Source: python/data/experimental/ops/distribute.py.
"""

from __future__ import annotations

from typing import ClassVar

from tfteach.framework.convert import convert
from tfteach.framework.dimension import dimension_value
from tfteach.framework.dtypes import int64
from tfteach.framework.scope import name_scope
from tfteach.framework.type_spec import TypeSpec
from tfteach.lib.data import structures
from tfteach.lib.data.dataset import Dataset
from tfteach.ops.data.rebatching import RebatchDataset


class _RebatchDataset(Dataset):
    """Each batch in parts along its first axis, one for each replica.

    Args:
      input_dataset: a dataset of batches.
      num_replicas: the number of parts, of which the last ones may be smaller or empty.
      use_fallback: see `RebatchDataset`.

    Raises:
      ValueError: a component of the elements is a scalar.
    """

    type_name: ClassVar[str] = "_RebatchDataset"

    def __init__(
        self, input_dataset: Dataset, num_replicas: int, use_fallback: bool = True
    ) -> None:
        def part(spec: TypeSpec) -> TypeSpec:
            shape = spec._to_legacy_output_shapes()
            if shape.ndims == 0:
                raise ValueError(
                    "Input shape should have at least one dimension. Perhaps your "
                    "input dataset is not batched?"
                )
            size = None if shape.ndims is None else dimension_value(shape[0])
            rows = None if size is None or size % num_replicas else size // num_replicas
            return spec._unbatch()._batch(rows) if shape.ndims else spec

        specs = structures.mapped(part, input_dataset.element_spec)
        types, shapes = structures.flat_types(specs), structures.flat_shapes(specs)
        with name_scope(None, "RebatchDataset") as scope:
            count = convert(num_replicas, int64, "num_replicas")
            op = RebatchDataset(types, shapes, use_fallback)
            variant = op(input_dataset._variant_tensor, count, name=scope)
        super().__init__(variant, specs, [input_dataset])
