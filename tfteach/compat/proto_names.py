"""The protocol messages that TensorFlow shows as `tf.<name>`, `tf.summary.<name>`..."""

from __future__ import annotations

from typing import Any

from tfteach.compat.renamed import missing
from tfteach.framework import protos
from tfteach.framework.export import export_value

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


def of_summary(name: str) -> Any:
    """`tf.summary.__getattr__`: the messages there, loaded when first asked for."""
    return _found(name, "summary")


def of_train(name: str) -> Any:
    """`tf.train.__getattr__`: the messages there, loaded when first asked for."""
    return _found(name, "train")


def _found(name: str, package: str) -> Any:
    message = find(name, package)
    if message is None:
        raise missing(package, name)
    return message


export_value(__name__, of_summary="summary.__getattr__", of_train="train.__getattr__")
