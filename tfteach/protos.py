"""TF's protocol messages by their public names, loaded when first asked for.

They are the classes of `tensorboard.compat.proto`.  Loading one costs tens of
milliseconds, which a program that never touches a proto need not pay.
"""

from __future__ import annotations

import importlib
from typing import Any

from tfteach.framework.export import export_value
from tfteach.legacy.renamed import missing

# Where each message is: proto file -> messages.
_FILES = {
    "attr_value": "AttrValue NameAttrList",
    "node_def": "NodeDef",
    "graph": "GraphDef",
    "op_def": "OpDef",
    "function": "FunctionDef",
    "versions": "VersionDef",
    "tensor": "TensorProto",
    "tensor_shape": "TensorShapeProto",
    "variable": "VariableDef",
    "config": "ConfigProto GPUOptions OptimizerOptions "
    "GraphOptions RunOptions RunMetadata",
    "summary": "Summary SummaryMetadata SummaryDescription",
    "histogram": "HistogramProto",
    "event": "Event LogMessage SessionLog TaggedRunMetadata",
    "meta_graph": "MetaGraphDef TensorInfo SignatureDef CollectionDef",
    "saver": "SaverDef",
    "cluster": "ClusterDef JobDef",
    "step_stats": "StepStats NodeExecStats DeviceStepStats",
    "cost_graph": "CostGraphDef",
    "projector": "ProjectorConfig EmbeddingInfo SpriteMetadata",
    "rewriter_config": "RewriterConfig",
}
_MODULES = {m: file for file, names in _FILES.items() for m in names.split()}
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
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    place = "compat.proto" if module != "projector" else "plugins.projector"
    file = "projector_config" if module == "projector" else module
    loaded = importlib.import_module(f"tensorboard.{place}.{file}_pb2")
    message = getattr(loaded, name)
    globals()[name] = message
    return message


def __dir__() -> list[str]:
    return sorted(_MODULES)
