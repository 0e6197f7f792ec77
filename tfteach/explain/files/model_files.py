"""What a model's file contains: graphs, signatures, variables, with nothing run.

The files of TensorFlow 1 and 2 are told apart by their contents, since names such as
"model.pb" stand for several formats.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tfteach.engine.devices.memory_ledger import show_bytes
from tfteach.explain.files.saved_assets import ModelAsset, assets_of
from tfteach.explain.files.saved_functions import ModelFunction, functions_of
from tfteach.explain.graphs.graph_rows import is_known
from tfteach.explain.graphs.output_types import shape_words
from tfteach.framework.dtypes import as_dtype
from tfteach.framework.errors import (
    DataLossError,
    InvalidArgumentError,
    NotFoundError,
)
from tfteach.framework.files import file_system
from tfteach.framework.files.file_system import resolve
from tfteach.framework.op import op_class

__all__ = ["ModelFile", "ModelGraph", "ModelSignature", "ModelTensor", "read_model"]

MOST_BYTES = (1 << 31) - 1  # that protobuf parses
SMALLEST_WEIGHT_BYTES = 1024  # of constants that are listed like variables
MOST_LINES = 60
SAVED_MODEL = ("saved_model.pb", "saved_model.pbtxt")
_OP_TYPE = re.compile(r"[\w.>]+")
# The first field of a file in text format says which message it is.
_FIRST_FIELDS = {
    "GraphDef": ("node", "versions", "library", "version"),
    "MetaGraphDef": (
        "meta_info_def", "graph_def", "saver_def", "collection_def", "signature_def",
        "asset_file_def",
    ),
    "SavedModel": ("saved_model_schema_version", "meta_graphs"),
}  # fmt: skip


class ModelTensor(NamedTuple):
    """A variable, a large constant, or an input or output of a signature.

    Attributes:
      key: its name in the signature; of a variable, its name.
      op: the name of the op in the graph.
      dtype: such as "float32".
      shape: -1 is an unknown size, None an unknown rank.
      size_bytes: None if it depends on a size that is unknown.
      is_constant: True if the graph itself holds the values.
    """

    key: str
    op: str
    dtype: str
    shape: list[int] | None
    size_bytes: int | None = None
    is_constant: bool = False

    def __str__(self) -> str:
        size = "" if self.size_bytes is None else f", {show_bytes(self.size_bytes)}"
        return f"{self.key}: {self.dtype} {shape_words(self.shape)}{size}"


class ModelSignature(NamedTuple):
    """What a caller of a SavedModel feeds and fetches.

    Attributes:
      name: such as "serving_default".
      method: such as "tensorflow/serving/predict".
      inputs: the tensors to feed.
      outputs: the tensors to fetch.
    """

    name: str
    method: str
    inputs: list[ModelTensor]
    outputs: list[ModelTensor]


class ModelGraph(NamedTuple):
    """A graph in a model's file.

    Attributes:
      title: what tells it from the other graphs of the file, such as its tags.
      graph_def: a GraphDef.
      signatures: of a MetaGraph or a SavedModel.
      variables: those that the graph has, and its constants of 1 KiB or more.
      unknown: type -> count of the ops that tfteach can draw, but not run.
      functions: the number of functions in the graph's library.
      assets: files that the graph of a SavedModel reads.
      methods: functions of the objects of a SavedModel.
    """

    title: str
    graph_def: Any
    signatures: list[ModelSignature]
    variables: list[ModelTensor]
    unknown: dict[str, int]
    functions: int
    assets: tuple[ModelAsset, ...] = ()
    methods: tuple[ModelFunction, ...] = ()

    @property
    def summary(self) -> str:
        """One line of counts and sizes."""
        parts = [_count(len(self.graph_def.node), "op")]
        if self.functions:
            parts.append(_count(self.functions, "function"))
        for word, is_constant in (("variable", False), ("large constant", True)):
            sizes = [
                tensor.size_bytes or 0
                for tensor in self.variables
                if tensor.is_constant == is_constant
            ]
            if sizes:
                size = show_bytes(sum(sizes))
                parts.append(f"{_count(len(sizes), word)}, {size}")
        if self.assets:
            missing = sum(asset.size_bytes is None for asset in self.assets)
            gone = f", {missing} missing" if missing else ""
            parts.append(_count(len(self.assets), "asset") + gone)
        return "; ".join(parts)

    def to_text(self, most: int | None = None) -> str:
        """The summary, the signatures and the variables.

        Args:
          most: the number of variables; None for all.

        Returns:
          A string of several lines.
        """
        lines = [f"{self.title}: {self.summary}"]
        if self.unknown:
            lines.append(unknown_words(self.unknown))
        for signature in self.signatures:
            lines.append(f"signature {signature.name} ({signature.method})")
            lines += [f"  takes {tensor} ({tensor.op})" for tensor in signature.inputs]
            lines += [f"  gives {tensor} ({tensor.op})" for tensor in signature.outputs]
        for method in self.methods:
            lines.append(f"method {method.name}")
            lines += [f"  takes {trace or 'nothing'}" for trace in method.traces]
        lines += [f"asset {asset}" for asset in self.assets]
        shown = self.variables[:most]
        for tensor in shown:
            kind = "constant" if tensor.is_constant else "variable"
            lines.append(f"{kind} {tensor}")
        if len(shown) < len(self.variables):
            lines.append(f"and {len(self.variables) - len(shown)} more")
        return "\n".join(lines)


class ModelFile(NamedTuple):
    """The contents of a model's file; `print` it.

    Attributes:
      path: the file, or the directory of a SavedModel.
      kind: such as "SavedModel" or "frozen graph".
      graphs: at least one.
      checkpoint: the prefix of the variables' values; "" without any.
    """

    path: str
    kind: str
    graphs: list[ModelGraph]
    checkpoint: str = ""

    def to_text(self, most: int | None = MOST_LINES) -> str:
        """The kind, then the graphs.

        Args:
          most: the number of variables to list; None for all.

        Returns:
          A string of several lines.
        """
        graphs = [graph.to_text(most) for graph in self.graphs]
        return "\n".join([f"{self.path}: {self.kind}", *graphs])

    def __str__(self) -> str:
        return self.to_text()


def read_model(path: Any) -> ModelFile:
    """What a model's file contains.

    Args:
      path: a .pb, .pbtxt or .meta file, an event file, or a SavedModel's directory.

    Returns:
      A `ModelFile`; `print` it.

    Raises:
      NotFoundError: there is no such file.
      InvalidArgumentError: it is no model, has a field that the format does not know,
        or is too large for protobuf.
      DataLossError: it is damaged.

    Example:
      >>> import tempfile
      >>> one = tf.constant(1.0, name="one")
      >>> path = tf.train.write_graph(one.graph, tempfile.mkdtemp(), "one.pb", False)
      >>> print(read_model(path).graphs[0].summary)
      1 op
    """
    name = resolve(path)
    if not file_system.exists(name):
        raise NotFoundError(None, None, f"{name}; No such file or directory")
    if file_system.isdir(name):
        return _saved_model(name)
    size = file_system.stat(name).length
    if size > MOST_BYTES:
        raise _invalid(
            f"{name}: it has {size / 1e9:.1f} GB, and a protocol message at most 2 GB. "
            "Weights belong in variables and a checkpoint, not in constants"
        )
    with file_system.open_file(name, "rb") as file:
        data = file.read()
    if not data:
        raise DataLossError(None, None, f"{name}: the file is empty")
    if is_event_file(name, data):
        return _event_file(name)
    if _is_text(data):
        kind, proto = _parsed_text(name, data.decode())
    else:
        kind, proto = _parsed(name, data)
    return _model_of(name, kind, proto)


def is_event_file(name: str, data: bytes) -> bool:
    """Whether a file contains events: records, of which the first has the version."""
    return b"brain.Event:" in data[:64] or ".tfevents." in name.rsplit("/", 1)[-1]


def _saved_model(name: str) -> ModelFile:
    found = [f"{name}/{file}" for file in SAVED_MODEL]
    for file in filter(file_system.exists, found):
        model = read_model(file)
        values = f"{name}/variables/variables"
        has_values = file_system.exists(f"{values}.index")
        return model._replace(path=name, checkpoint=values if has_values else "")
    inside = sorted(file_system.listdir(name))
    shown = ", ".join(inside[:8]) + (", ..." if len(inside) > 8 else "")
    raise _invalid(
        f"{name}: a directory without saved_model.pb, so no SavedModel. Name one of "
        f"its files: {shown or 'it is empty'}"
    )


def _event_file(name: str) -> ModelFile:
    from tfteach.lib.files.events import summary_iterator

    graphs: list[ModelGraph] = []
    count = 0
    for event in summary_iterator(name):
        count += 1
        kind = event.WhichOneof("what")
        if kind not in ("graph_def", "meta_graph_def"):
            continue
        message = "GraphDef" if kind == "graph_def" else "MetaGraphDef"
        proto = _message(message).FromString(getattr(event, kind))
        step = f"step {event.step}" if event.step else "graph"
        found = _model_of(name, message, proto, step).graphs
        if graphs and graphs[-1].graph_def.node[:] == found[0].graph_def.node[:]:
            graphs.pop()  # TensorFlow writes a graph, then a MetaGraph of it
        graphs += found
    if not graphs:
        raise _invalid(
            f"{name}: an event file of {_count(count, 'event')} without a graph. A "
            "FileWriter that is given `sess.graph` writes one"
        )
    return ModelFile(name, "event file", graphs)


# ---- which message


def _message(kind: str) -> Any:
    from tfteach.framework.protos.pool import message

    return message(kind)


def _is_text(data: bytes) -> bool:
    """Whether a message is in text format: the binary one has control characters."""
    head = data[:4096]
    return not re.search(rb"[\x00-\x08\x0e-\x1f]", head) and b"\n" in head + b"\n"


def _parsed_text(name: str, text: str) -> tuple[str, Any]:
    from google.protobuf import text_format

    code = re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)
    first = re.match(r"\s*(\w+)\s*[:{<]", code)
    word = "" if first is None else first[1]
    kind = next((k for k, fields in _FIRST_FIELDS.items() if word in fields), "")
    if not kind:
        known = "; ".join(f"{k}: {', '.join(f)}" for k, f in _FIRST_FIELDS.items())
        begins = f"it begins with {word!r}" if word else "it has no field at its start"
        raise _invalid(f"{name}: {begins}, which no model does. Expected {known}")
    try:
        return kind, text_format.Parse(text, _message(kind)())
    except text_format.ParseError as error:
        raise _invalid(
            f"{name}, line {error.GetLine()}, column {error.GetColumn()}: "
            f"{str(error).partition(' : ')[2] or error} The file is read as a {kind}"
        ) from None


def _parsed(name: str, data: bytes) -> tuple[str, Any]:
    """The message of a binary file: the first that its contents make sense as."""
    from google.protobuf.message import DecodeError

    for kind, is_plausible in _PLAUSIBLE.items():
        try:
            proto = _message(kind).FromString(data)
        except DecodeError:
            continue
        if is_plausible(proto):
            return kind, proto
    raise DataLossError(
        None,
        None,
        f"{name}: neither a GraphDef nor a MetaGraphDef nor a SavedModel; it is "
        "damaged, truncated, or another format",
    )


def _has_nodes(graph_def: Any) -> bool:
    return bool(graph_def.node) and all(
        node.name and _OP_TYPE.fullmatch(node.op) for node in graph_def.node
    )


# A MetaGraphDef's first field is a message, a GraphDef's too: fields alone do not tell.
_PLAUSIBLE: dict[str, Callable[[Any], bool]] = {
    "SavedModel": lambda p: any(_has_nodes(m.graph_def) for m in p.meta_graphs),
    "GraphDef": _has_nodes,
    "MetaGraphDef": lambda p: _has_nodes(p.graph_def),
}


def _invalid(text: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, text)


# ---- what is in it


def _model_of(name: str, kind: str, proto: Any, title: str = "graph") -> ModelFile:
    if kind == "GraphDef":
        graph = _graph_of(title, proto)
        has_variables = any(not tensor.is_constant for tensor in graph.variables)
        is_frozen = bool(graph.variables) and not has_variables
        return ModelFile(name, "frozen graph" if is_frozen else "GraphDef", [graph])
    if kind == "MetaGraphDef":
        return ModelFile(name, "MetaGraph", [_meta_graph(proto, title)])
    folder = name.rpartition("/")[0] or "."
    graphs = [
        _meta_graph(meta, "no tags")._replace(assets=tuple(assets_of(meta, folder)))
        for meta in proto.meta_graphs
    ]
    return ModelFile(name, "SavedModel", graphs)


def _meta_graph(meta: Any, title: str) -> ModelGraph:
    tags = ", ".join(meta.meta_info_def.tags)
    graph = _graph_of(f"tags {tags}" if tags else title, meta.graph_def)
    signatures = [
        ModelSignature(
            name,
            signature.method_name,
            list(_ports(signature.inputs)),
            list(_ports(signature.outputs)),
        )
        for name, signature in sorted(meta.signature_def.items())
        if name != "__saved_model_init_op"
    ]
    return graph._replace(signatures=signatures, methods=tuple(functions_of(meta)))


def _ports(ports: Any) -> Iterator[ModelTensor]:
    for key, info in sorted(ports.items()):
        tensor = info.name
        if info.WhichOneof("encoding") == "coo_sparse":
            tensor = info.coo_sparse.values_tensor_name
        shape = _shape_of(info.tensor_shape)
        yield ModelTensor(key, tensor, _dtype_words(info.dtype), shape)


def _graph_of(title: str, graph_def: Any) -> ModelGraph:
    functions = {function.signature.name for function in graph_def.library.function}
    bodies = [node for f in graph_def.library.function for node in f.node_def]
    unknown: dict[str, int] = {}
    variables = []
    for node in [*graph_def.node, *bodies]:
        if node.op not in functions and not is_known(node.op):
            unknown[node.op] = unknown.get(node.op, 0) + 1
    for node in graph_def.node:
        known, attrs = op_class(node.op), node.attr
        if known.returns_handle and "shape" in attrs:
            dtype, shape = attrs["dtype"].type, _shape_of(attrs["shape"].shape)
            variables.append(_tensor(node.name, dtype, shape, is_constant=False))
        elif known.holds_value:
            proto = attrs["value"].tensor
            # An initial value of equal elements is large only once it is computed.
            if proto.ByteSize() >= SMALLEST_WEIGHT_BYTES:
                shape = _shape_of(proto.tensor_shape)
                variables.append(_tensor(node.name, proto.dtype, shape))
    return ModelGraph(title, graph_def, [], variables, unknown, len(functions))


def _tensor(
    name: str, dtype: int, shape: list[int] | None, is_constant: bool = True
) -> ModelTensor:
    size: int | None = None
    try:
        each = as_dtype(dtype).base_dtype.size
    except TypeError:
        each = 0
    if shape is not None and min(shape, default=0) >= 0 and each:
        size = each
        for length in shape:
            size *= length
    return ModelTensor(name, name, _dtype_words(dtype), shape, size, is_constant)


def _dtype_words(number: int) -> str:
    try:
        return as_dtype(number).base_dtype.name
    except TypeError:  # a type that is newer than TensorFlow 1.15
        return f"type {number}"


def _shape_of(proto: Any) -> list[int] | None:
    return None if proto.unknown_rank else [dim.size for dim in proto.dim]


def unknown_words(unknown: dict[str, int]) -> str:
    """What is said of op types that tfteach does not have."""
    types = [f"{kind} ({count})" for kind, count in sorted(unknown.items())]
    shown = ", ".join(types[:8]) + (", ..." if len(types) > 8 else "")
    return f"Drawn, but not known to tfteach, so they cannot run here: {shown}"


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"
