"""Requirements of a layer on its inputs.

Source: python/keras/engine/input_spec.py (rules and messages).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.framework import nest
from tfteach.framework.dtypes import as_dtype
from tfteach.framework.export import export
from tfteach.framework.type_aliases import DTypeLike


@export("layers.InputSpec")
class InputSpec:
    """Requirements on one input of a layer.

    Args:
      dtype: the element type.
      shape: the shape; None in it allows any size.
      ndim, max_ndim, min_ndim: the rank, and its limits.
      axes: a dict from an axis to its size.

    Raises:
      TypeError: an axis is not an integer.
      ValueError: an axis exceeds the rank.
    """

    def __init__(
        self,
        dtype: DTypeLike | None = None,
        shape: Sequence[int | None] | None = None,
        ndim: int | None = None,
        max_ndim: int | None = None,
        min_ndim: int | None = None,
        axes: Any = None,
    ) -> None:
        self.dtype = None if dtype is None else as_dtype(dtype).name
        self.shape = shape
        self.ndim = ndim if shape is None else len(shape)
        self.max_ndim, self.min_ndim = max_ndim, min_ndim
        try:
            self.axes = {int(axis): size for axis, size in (axes or {}).items()}
        except (ValueError, TypeError):
            raise TypeError("The keys in axes must be integers.") from None
        most = self.ndim or self.max_ndim
        if self.axes and most and max(self.axes) > most - 1:
            raise ValueError(
                f"Axis {max(self.axes)} is greater than the maximum allowed value: "
                f"{most - 1}"
            )

    def __repr__(self) -> str:
        names = ("dtype", "shape", "ndim", "max_ndim", "min_ndim", "axes")
        given = [(name, getattr(self, name)) for name in names]
        return f"InputSpec({', '.join(f'{k}={v}' for k, v in given if v)})"

    def get_config(self) -> dict[str, Any]:
        """The arguments that create an equal InputSpec."""
        names = ("dtype", "shape", "ndim", "max_ndim", "min_ndim", "axes")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> InputSpec:
        """The InputSpec of a `get_config` result."""
        return cls(**config)


def check_inputs(specs: Any, inputs: Any, layer_name: str) -> None:
    """Raise ValueError unless the inputs meet a layer's requirements."""
    if not specs:
        return
    inputs, specs = nest.flatten(inputs), nest.flatten(specs)
    if len(inputs) != len(specs):
        raise ValueError(
            f"Layer {layer_name} expects {len(specs)} inputs, but it received "
            f"{len(inputs)} input tensors. Inputs received: {inputs}"
        )
    for index, (tensor, spec) in enumerate(zip(inputs, specs, strict=True)):
        if spec is None:
            continue
        problem = _rank_problem(spec, tensor) or _type_or_size_problem(spec, tensor)
        if problem:
            raise ValueError(
                f"Input {index} of layer {layer_name} is incompatible with the layer: "
                + problem
            )


def _rank_problem(spec: InputSpec, tensor: Any) -> str:
    rank = tensor.shape.ndims
    if (spec.ndim, spec.min_ndim, spec.max_ndim) == (None, None, None):
        return ""
    if rank is None:
        return "its rank is undefined, but the layer requires a defined rank."
    received = f"found ndim={rank}. Full shape received: {tensor.shape.as_list()}"
    if spec.ndim is not None and rank != spec.ndim:
        return f"expected ndim={spec.ndim}, {received}"
    if spec.max_ndim is not None and rank > spec.max_ndim:
        return f"expected max_ndim={spec.max_ndim}, found ndim={rank}"
    if spec.min_ndim is not None and rank < spec.min_ndim:
        return f": expected min_ndim={spec.min_ndim}, {received}"
    return ""


def _type_or_size_problem(spec: InputSpec, tensor: Any) -> str:
    if spec.dtype is not None and tensor.dtype != spec.dtype:
        return f"expected dtype={spec.dtype}, found dtype={tensor.dtype}"
    if tensor.shape.ndims is None:
        return ""
    sizes = tensor.shape.as_list()
    for axis, size in spec.axes.items():
        size = getattr(size, "value", size)
        if size is not None and sizes[axis] not in (size, None):
            return (
                f"expected axis {axis} of input shape to have value {size} but "
                f"received input with shape {sizes}"
            )
    for wanted, found in zip(spec.shape or (), sizes, strict=False):
        if wanted is not None and found is not None and wanted != found:
            return f"expected shape={spec.shape}, found shape={sizes}"
    return ""
