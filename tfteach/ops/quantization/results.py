"""The named tuples that functions return, named like the ops, as in TensorFlow."""

from __future__ import annotations

from typing import NamedTuple

from tfteach.framework.operation import Tensor


class QuantizeV2(NamedTuple):
    """Integers and the range that they cover."""

    output: Tensor
    output_min: Tensor
    output_max: Tensor


class QuantizedConcat(NamedTuple):
    """Integers and the range that they cover."""

    output: Tensor
    output_min: Tensor
    output_max: Tensor


class QuantizedConv2D(NamedTuple):
    """Integers and the range that they cover."""

    output: Tensor
    min_output: Tensor
    max_output: Tensor


class QuantizedMaxPool(NamedTuple):
    """Integers and the range that they cover."""

    output: Tensor
    min_output: Tensor
    max_output: Tensor


class QuantizedAvgPool(NamedTuple):
    """Integers and the range that they cover."""

    output: Tensor
    min_output: Tensor
    max_output: Tensor


class QuantizedReluX(NamedTuple):
    """Integers and the range that they cover."""

    activations: Tensor
    min_activations: Tensor
    max_activations: Tensor
