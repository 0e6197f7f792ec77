"""The protocol messages that TensorFlow shows as `tf.<name>`, `tf.summary.<name>`..."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.compat.renamed import missing
from tfteach.framework import protos
from tfteach.framework.export import export_value
from tfteach.framework.lazy_names import lazy_getattr

_PUBLIC = {
    "": "AttrValue ConfigProto Event GPUOptions GraphDef GraphOptions HistogramProto "
    "LogMessage MetaGraphDef NameAttrList NodeDef OptimizerOptions RunMetadata "
    "RunOptions SessionLog Summary SummaryMetadata TensorInfo",
    "summary": "Event SessionLog Summary SummaryDescription TaggedRunMetadata",
    "train": "ClusterDef JobDef SaverDef",
}


def find(name: str, package: str = "") -> Any:
    """The message class that TF shows as `tf.<package>.<name>`, or None."""
    if name not in _PUBLIC.get(package, "").split():
        return None
    return getattr(protos, name)


def _of(package: str) -> Callable[[str], Any]:
    return lazy_getattr(
        f"tfteach.api.{package}",
        lambda name: find(name, package),
        lambda _, name: missing(package, name),
    )


of_summary = _of("summary")
of_train = _of("train")

export_value(__name__, of_summary="summary.__getattr__", of_train="train.__getattr__")
