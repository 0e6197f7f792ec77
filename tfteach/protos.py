"""TF's protocol messages by their public names, loaded when first asked for.

The classes are made by framework/protos.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework import protos
from tfteach.framework.export import export_value
from tfteach.legacy.renamed import missing

# The messages that TF shows as `tf.<name>`, `tf.summary.<name>` and `tf.train.<name>`.
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
    return __getattr__(name)


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


def __getattr__(name: str) -> Any:
    message = protos.message(name)
    if message is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = message
    return message


def __dir__() -> list[str]:
    return dir(protos)
