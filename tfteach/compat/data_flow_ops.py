"""Names of `tensorflow.python.ops.data_flow_ops` that are not public.

Source: python/ops/data_flow_ops.py (API).
"""

from __future__ import annotations

from tfteach.ops.io.record_input import RecordInput
from tfteach.ops.queues.barrier import Barriers as Barrier
from tfteach.ops.queues.map_staging import MapStagingArea
from tfteach.ops.queues.staging import StagingArea

__all__ = ["Barrier", "MapStagingArea", "RecordInput", "StagingArea"]
