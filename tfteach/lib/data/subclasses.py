"""Classes of datasets that programs extend or construct by TensorFlow's inner names.

Source: python/data/ops/dataset_ops.py (API).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.framework.dtypes import as_dtype
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import Structure, TensorLike
from tfteach.lib.data import structures
from tfteach.lib.data.base import DatasetBase
from tfteach.lib.data.dataset import Dataset
from tfteach.lib.data.generators import generator_dataset
from tfteach.lib.data.transformations import map_dataset, prefetch_dataset


class DatasetSource(Dataset):
    """A dataset that reads no other; its class defines `element_spec`.

    Args:
      variant_tensor: a scalar Tensor of type variant.
    """

    def __init__(self, variant_tensor: Tensor) -> None:
        super().__init__(variant_tensor, None)


class UnaryDataset(Dataset):
    """A dataset that reads another; its class defines `element_spec`.

    Args:
      input_dataset: the other.
      variant_tensor: a scalar Tensor of type variant.
    """

    def __init__(self, input_dataset: DatasetBase, variant_tensor: Tensor) -> None:
        super().__init__(variant_tensor, None, [input_dataset])
        self._input_dataset = input_dataset


class UnaryUnchangedStructureDataset(UnaryDataset):
    """A dataset that reads another, with elements of the same structure."""

    @property
    def element_spec(self) -> Any:
        return self._input_dataset.element_spec


class MapDataset(UnaryDataset):
    """`Dataset.map`, by its class.

    Args:
      input_dataset, map_func: see `Dataset.map`.
      use_inter_op_parallelism: whether ops of the function may run at the same time.
      preserve_cardinality: whether an OutOfRangeError in it is an error, else the end.
    """

    def __init__(
        self,
        input_dataset: DatasetBase,
        map_func: Callable[..., Any],
        use_inter_op_parallelism: bool = True,
        preserve_cardinality: bool = False,
    ) -> None:
        made = map_dataset(
            input_dataset,
            map_func,
            None,
            use_inter_op_parallelism,
            preserve_cardinality,
        )
        super().__init__(input_dataset, made._variant_tensor)
        self._specs, self._wrapped_functions = made._specs, made._wrapped_functions


class ParallelMapDataset(UnaryDataset):
    """`Dataset.map` with `num_parallel_calls`, by its class; see `MapDataset`."""

    def __init__(
        self,
        input_dataset: DatasetBase,
        map_func: Callable[..., Any],
        num_parallel_calls: TensorLike,
        use_inter_op_parallelism: bool = True,
        preserve_cardinality: bool = False,
    ) -> None:
        made = map_dataset(
            input_dataset,
            map_func,
            num_parallel_calls,
            use_inter_op_parallelism,
            preserve_cardinality,
        )
        super().__init__(input_dataset, made._variant_tensor)
        self._specs, self._wrapped_functions = made._specs, made._wrapped_functions


class PrefetchDataset(UnaryUnchangedStructureDataset):
    """`Dataset.prefetch`, by its class.

    Args:
      input_dataset, buffer_size: see `Dataset.prefetch`.
      slack_period: see `tf.data.Options.experimental_slack`, which has no effect.
    """

    def __init__(
        self,
        input_dataset: DatasetBase,
        buffer_size: TensorLike | None,
        slack_period: int | None = None,
    ) -> None:
        made = prefetch_dataset(input_dataset, buffer_size, slack_period or 0)
        super().__init__(input_dataset, made._variant_tensor)


class GeneratorDataset(DatasetSource):
    """What a function yields that is called with a state until it raises the end.

    Args:
      init_args: a nested structure of values, the arguments of `init_func`.
      init_func: returns the state.
      next_func: returns the next element for a state.
      finalize_func: is called with the state when the iterator is destroyed.
    """

    def __init__(
        self,
        init_args: Structure,
        init_func: Callable[..., Any],
        next_func: Callable[..., Any],
        finalize_func: Callable[..., Any],
    ) -> None:
        made = generator_dataset(init_args, init_func, next_func, finalize_func)
        super().__init__(made._variant_tensor)
        self._specs, self._wrapped_functions = made._specs, made._wrapped_functions


class RestructuredDataset(UnaryDataset):
    """The same tensors in another structure.

    Args:
      dataset: a dataset of tensors.
      output_types: the new structure of the element types.
      output_shapes: the same structure of static shapes; the present ones if None.
      output_classes: the same structure of classes; `tf.Tensor` if None.

    Raises:
      ValueError: types, numbers or static shapes of the components differ.
    """

    def __init__(
        self,
        dataset: DatasetBase,
        output_types: Structure,
        output_shapes: Structure = None,
        output_classes: Structure = None,
    ) -> None:
        super().__init__(dataset, dataset._variant_tensor)
        types, shapes = dataset.flat
        wanted = structures.flatten(output_types)
        if [as_dtype(dtype) for dtype in wanted] != list(types):
            raise ValueError(
                f"Dataset with output types {dataset.output_types} cannot be "
                f"restructured to have output types {output_types}"
            )
        if output_shapes is None:
            output_shapes = structures.pack(output_types, list(shapes))
        try:
            self._specs = structures.from_legacy(
                output_types, output_shapes, output_classes
            )
        except TypeError as error:
            raise ValueError(str(error)) from None
        for old, new in zip(shapes, structures.flat_shapes(self._specs), strict=True):
            if not old.is_compatible_with(new):
                raise ValueError(
                    f"Dataset with output shapes {dataset.output_shapes} cannot be "
                    f"restructured to have incompatible output shapes {output_shapes}"
                )
