"""The switch to TensorFlow 2's control flow.

Source: python/ops/control_flow_v2_toggles.py.
"""

from __future__ import annotations

from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph

ENABLE_CONTROL_FLOW_V2 = False  # programs set and read it, too


@export("enable_control_flow_v2")
def enable_control_flow_v2() -> None:
    """Let `tf.cond`, `tf.while_loop` and `tf.case` build If, While and Case nodes.

    Their branches and bodies are functions of the graph's library, as in TensorFlow 2.

    Example:
      >>> tf.enable_control_flow_v2()

    Source: python/ops/control_flow_v2_toggles.py.
    """
    global ENABLE_CONTROL_FLOW_V2
    ENABLE_CONTROL_FLOW_V2 = True


@export("disable_control_flow_v2")
def disable_control_flow_v2() -> None:
    """Let `tf.cond` and `tf.while_loop` build Switch and Merge nodes, the default."""
    global ENABLE_CONTROL_FLOW_V2
    ENABLE_CONTROL_FLOW_V2 = False


@export("control_flow_v2_enabled")
def control_flow_v2_enabled() -> bool:
    """Whether `tf.cond` and `tf.while_loop` build If and While nodes."""
    return is_functional()


def is_functional() -> bool:
    """Whether control flow is built of functions in the default graph."""
    chosen: bool | None = getattr(get_default_graph(), "functional_flow", None)
    return ENABLE_CONTROL_FLOW_V2 if chosen is None else chosen
