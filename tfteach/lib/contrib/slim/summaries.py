"""`tf.contrib.slim.summaries`: summaries named after their tensors.

Source: contrib/slim/python/slim/summaries.py.
"""

from __future__ import annotations

from collections.abc import Iterable

from tfteach.control.zero_fraction import zero_fraction
from tfteach.framework.export import export
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import add_to_collection
from tfteach.ops.debug import summary_functions
from tfteach.ops.debug.print_assert import Print_


def _name(tensor: Tensor, name: str | None, prefix: str | None) -> str:
    name = name or tensor.op.name
    return f"{prefix}/{name}" if prefix else name


def _added(op: Tensor, tensor: Tensor, name: str, print_summary: bool) -> Tensor:
    """A summary that is in no collection yet, maybe with a Print, in its collection."""
    if print_summary:
        op = Print_(op, [tensor], name)
    add_to_collection(GraphKeys.SUMMARIES, op)
    return op


def _scalar(tensor: Tensor, name: str, print_summary: bool) -> Tensor:
    op = summary_functions.scalar(name, tensor, collections=[])
    return _added(op, tensor, name, print_summary)


@export("contrib.slim.summaries.add_scalar_summary")
def add_scalar_summary(
    tensor: Tensor,
    name: str | None = None,
    prefix: str | None = None,
    print_summary: bool = False,
) -> Tensor:
    """A scalar summary "prefix/name"; it also prints the value under `print_summary`.

    Args:
      tensor: a scalar Tensor.
      name: by default that of the tensor's op.

    Example:
      >>> tf.contrib.slim.summaries.add_scalar_summary(loss, prefix="losses")
    """
    return _scalar(tensor, _name(tensor, name, prefix), print_summary)


@export("contrib.slim.summaries.add_histogram_summary")
def add_histogram_summary(
    tensor: Tensor, name: str | None = None, prefix: str | None = None
) -> Tensor:
    """A histogram summary "prefix/name"; the name is by default that of the op."""
    return summary_functions.histogram(_name(tensor, name, prefix), tensor)


@export("contrib.slim.summaries.add_image_summary")
def add_image_summary(
    tensor: Tensor,
    name: str | None = None,
    prefix: str | None = None,
    print_summary: bool = False,
) -> Tensor:
    """An image summary "prefix/name"; the name is by default that of the op.

    Args:
      tensor: images [batch, height, width, channels].
      print_summary: whether it also prints the tensor.
    """
    name = _name(tensor, name, prefix)
    op = summary_functions.image(name, tensor, collections=[])
    return _added(op, tensor, name, print_summary)


@export("contrib.slim.summaries.add_zero_fraction_summary")
def add_zero_fraction_summary(
    tensor: Tensor,
    name: str | None = None,
    prefix: str | None = None,
    print_summary: bool = False,
) -> Tensor:
    """A summary "prefix/name/Fraction_of_Zero_Values": the share of zeros."""
    name = f"{_name(tensor, name, prefix)}/Fraction_of_Zero_Values"
    return _scalar(zero_fraction(tensor), name, print_summary)


@export("contrib.slim.summaries.add_scalar_summaries")
def add_scalar_summaries(
    tensors: Iterable[Tensor], prefix: str | None = None, print_summary: bool = False
) -> list[Tensor]:
    """`add_scalar_summary` of each tensor."""
    return [
        add_scalar_summary(tensor, prefix=prefix, print_summary=print_summary)
        for tensor in tensors
    ]


@export("contrib.slim.summaries.add_histogram_summaries")
def add_histogram_summaries(
    tensors: Iterable[Tensor], prefix: str | None = None
) -> list[Tensor]:
    """`add_histogram_summary` of each tensor."""
    return [add_histogram_summary(tensor, prefix=prefix) for tensor in tensors]


@export("contrib.slim.summaries.add_image_summaries")
def add_image_summaries(
    tensors: Iterable[Tensor], prefix: str | None = None
) -> list[Tensor]:
    """`add_image_summary` of each tensor."""
    return [add_image_summary(tensor, prefix=prefix) for tensor in tensors]


@export("contrib.slim.summaries.add_zero_fraction_summaries")
def add_zero_fraction_summaries(
    tensors: Iterable[Tensor], prefix: str | None = None
) -> list[Tensor]:
    """`add_zero_fraction_summary` of each tensor."""
    return [add_zero_fraction_summary(tensor, prefix=prefix) for tensor in tensors]
