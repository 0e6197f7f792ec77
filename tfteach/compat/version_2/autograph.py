"""`tf.compat.v2.autograph`."""

from __future__ import annotations

from tfteach.compat.version_2.signatures import with_parameters
from tfteach.lib.autograph.api import to_code, to_graph

CONVERSION = "entity | recursive experimental_optional_features"

to_code_v2 = with_parameters(to_code, CONVERSION, v2="autograph.to_code")
to_graph_v2 = with_parameters(to_graph, CONVERSION, v2="autograph.to_graph")
