"""`tf.version`: the TensorFlow version whose API and GraphDefs these are."""

from __future__ import annotations

import platform

from tfteach.framework.export import export_value
from tfteach.framework.graphdef.graph_def import PRODUCER
from tfteach.framework.graphdef.meta_graph import GIT_VERSION as GIT_VERSION
from tfteach.framework.graphdef.meta_graph import VERSION as VERSION

COMPILER_VERSION = platform.python_compiler()
GRAPH_DEF_VERSION = PRODUCER
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0

export_value(
    __name__,
    VERSION="version.VERSION compat.v2.__version__",
    GIT_VERSION="GIT_VERSION version.GIT_VERSION",
    COMPILER_VERSION="COMPILER_VERSION version.COMPILER_VERSION",
    GRAPH_DEF_VERSION="GRAPH_DEF_VERSION version.GRAPH_DEF_VERSION",
    GRAPH_DEF_VERSION_MIN_CONSUMER="GRAPH_DEF_VERSION_MIN_CONSUMER "
    "version.GRAPH_DEF_VERSION_MIN_CONSUMER",
    GRAPH_DEF_VERSION_MIN_PRODUCER="GRAPH_DEF_VERSION_MIN_PRODUCER "
    "version.GRAPH_DEF_VERSION_MIN_PRODUCER",
)
