"""The protocol messages that TensorFlow exports as `tf.<name>`, `tf.summary.<name>`."""

from __future__ import annotations

from typing import Any

from tfteach.framework import protos

_PUBLIC = {
    "": "AttrValue ConfigProto Event GPUOptions GraphDef GraphOptions HistogramProto "
    "LogMessage MetaGraphDef NameAttrList NodeDef OptimizerOptions RunMetadata "
    "RunOptions SessionLog Summary SummaryMetadata TensorInfo",
    "summary": "Event SessionLog Summary SummaryDescription TaggedRunMetadata",
    "train": "BytesList ClusterDef Example Feature FeatureList FeatureLists Features "
    "FloatList Int64List JobDef SaverDef SequenceExample "
    "ServerDef",
    "contrib.checkpoint": "CheckpointableObjectGraph",
}
_OTHER_NAMES = {"CheckpointableObjectGraph": "TrackableObjectGraph"}


def find(name: str, package: str = "") -> Any:
    """The message class that TF exports as `tf.<package>.<name>`, or None."""
    if name not in _PUBLIC.get(package, "").split():
        return None
    return getattr(protos, _OTHER_NAMES.get(name, name))
