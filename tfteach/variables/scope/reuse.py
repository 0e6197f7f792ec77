"""`tf.AUTO_REUSE`, a way in which a variable scope shares variables."""

from __future__ import annotations

from enum import Enum

from tfteach.framework.export import export_value


class _ReuseMode(Enum):
    AUTO_REUSE = 1


# `reuse=tf.AUTO_REUSE`: create the variable on first use, then share it.
AUTO_REUSE = _ReuseMode.AUTO_REUSE
export_value(__name__, AUTO_REUSE="AUTO_REUSE")
