"""Calls that tell AutoGraph something, and do nothing else.

Source: python/autograph/lang/directives.py.
"""

from __future__ import annotations

from tfteach.framework.export import export
from tfteach.framework.type_aliases import DTypeLike

UNSPECIFIED = object()


@export("autograph.experimental.set_loop_options", "contrib.autograph.set_loop_options")
def set_loop_options(
    parallel_iterations: object = UNSPECIFIED,
    back_prop: object = UNSPECIFIED,
    swap_memory: object = UNSPECIFIED,
    maximum_iterations: object = UNSPECIFIED,
) -> None:
    """Name options for the `tf.while_loop` that the loop around the call becomes.

    As in TensorFlow 1.15, they have no effect yet.

    Args:
      parallel_iterations, back_prop, swap_memory, maximum_iterations: as for
        `tf.while_loop`.

    Example:
      >>> tf.autograph.experimental.set_loop_options(parallel_iterations=1)

    Source: python/autograph/lang/directives.py.
    """


@export("contrib.autograph.set_element_type")
def set_element_type(
    entity: object, dtype: DTypeLike, shape: object = UNSPECIFIED
) -> None:
    """Say what a tensor list holds, in a function converted with `Feature.LISTS`."""
