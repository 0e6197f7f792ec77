"""`ModelView`: the graph in a model's file, with its signatures and variables."""

from __future__ import annotations

from typing import Any

import traitlets

from tfteach.engine.devices.memory_ledger import show_bytes
from tfteach.explain.files.model_files import (
    ModelFile,
    ModelGraph,
    ModelTensor,
    read_model,
    unknown_words,
)
from tfteach.explain.files.serving_ops import (
    beside_outputs,
    calls_that_compute,
    ends_of_bodies,
    switches,
)
from tfteach.explain.graphs.function_bodies import functions_scope, with_function_bodies
from tfteach.explain.graphs.output_types import shape_words
from tfteach.jupyter.pictures.graph_svg import svg_of
from tfteach.jupyter.pictures.mime_bundle import bundle_with
from tfteach.jupyter.widgets.graph import STATIC, GraphView

MOST_BOXES = 600  # Inception has 313 layers, as series they have no order
MOST_ROWS = 2000  # variables in the page
DEFAULT_SIGNATURE = "serving_default"
MOST_LINES = 40  # variables in a saved notebook


class ModelView(GraphView):
    """The graph in a model's file, beside its signatures and its variables by size.

    Nothing runs, and no op needs to be known to tfteach: boxes of other op types are
    drawn dashed and say so. An op that calls functions of the graph's library is a
    scope with their ops; functions that no op calls are scopes below "functions". Click
    a variable or an end of a signature to go to its op.

    Args:
      model: the path of a .pb, .pbtxt or .meta file, of an event file or of a
        SavedModel's directory; or a `ModelFile` from `read_model`.
      graph: of a file with several graphs, the number of the one to show, or a part of
        its title, such as a tag.
      options: as for `GraphView`; a scope with more than 600 boxes is grouped.

    Attributes:
      model: the `ModelFile`.
      shown: the `ModelGraph` that is drawn.

    Raises:
      NotFoundError: there is no such file.
      InvalidArgumentError: it is no model, or has a field that is not known.
      DataLossError: it is damaged.
      ValueError: the file has no such graph.

    Example:
      >>> import tempfile
      >>> x = tf.placeholder(tf.float32, [None, 2], name="x")
      >>> path = tf.train.write_graph(x.graph, tempfile.mkdtemp(), "model.pbtxt")
      >>> ModelView(path)
      ModelView(GraphDef: 1 op)
    """

    _esm = STATIC / "model.js"
    _css = STATIC / "model.css"

    _model: Any = traitlets.Dict().tag(sync=True)

    def __init__(self, model: Any, graph: int | str = 0, **options: Any) -> None:
        self.model = model if isinstance(model, ModelFile) else read_model(model)
        self.shown = _chosen(self.model, graph)
        drawn = with_function_bodies(self.shown.graph_def)
        hubs = [*switches(drawn), *ends_of_bodies(drawn)]
        aside = [*options.pop("aside", ()), *hubs]
        if drawn is not self.shown.graph_def:
            aside.append(functions_scope(self.shown.graph_def))
            if calls := _calls_to_open(self.shown, drawn):
                if "depth" not in options:
                    options.setdefault("expanded", calls)
                outputs = [t.op for each in self.shown.signatures for t in each.outputs]
                aside += beside_outputs(self.shown.graph_def, outputs)
                calls = [output.partition(":")[0] for output in outputs]
                options["inline"] = [*options.get("inline", ()), *calls]
        options["aside"] = aside
        options.setdefault("group_above", MOST_BOXES)
        super().__init__(drawn, **options)
        self._model = _contents(self.model, self.shown)

    def __repr__(self) -> str:
        return f"ModelView({self.model.kind}: {self.shown.summary})"

    def page_title(self) -> str:
        """The name of the file."""
        return f"{self.model.path.rstrip('/').rpartition('/')[2]}: {self.model.kind}"

    def to_text(self) -> str:
        """The contents of the file, then the graph as text."""
        return f"{self.model.to_text()}\n\n{super().to_text()}"

    def static_bundle(self) -> dict[str, str]:
        """The picture of the graph, with the contents of the file below."""
        return bundle_with(
            self.model.to_text(MOST_LINES), svg_of(self.still()), beside=True
        )


def _chosen(model: ModelFile, graph: int | str) -> ModelGraph:
    if isinstance(graph, str):
        found = [each for each in model.graphs if graph in each.title]
    else:
        found = model.graphs[graph:][:1] if graph >= 0 else []
    if not found:
        titles = ", ".join(f"{i}: {g.title}" for i, g in enumerate(model.graphs))
        raise ValueError(f"{model.path} has no graph {graph!r}; it has {titles}")
    return found[0]


def _calls_to_open(shown: ModelGraph, drawn: Any) -> list[str]:
    """The calls that compute the outputs of the signature that is served by default."""
    names = [node.name for node in drawn.node]
    by_name = sorted(shown.signatures, key=lambda each: each.name != DEFAULT_SIGNATURE)
    for signature in by_name:
        found = calls_that_compute(names, [each.op for each in signature.outputs])
        if found:
            return found
    return []


def _contents(model: ModelFile, shown: ModelGraph) -> dict[str, Any]:
    """What stands beside the graph, as JSON."""
    others = [graph.title for graph in model.graphs if graph is not shown]
    largest = max((each.size_bytes or 0 for each in shown.variables), default=0)
    return {
        "kind": model.kind,
        "title": shown.title if others or shown.signatures else "",
        "others": others,
        "summary": shown.summary,
        "unknown": unknown_words(shown.unknown) if shown.unknown else "",
        "signatures": [
            {
                "name": signature.name,
                "method": signature.method,
                "inputs": [_row(tensor) for tensor in signature.inputs],
                "outputs": [_row(tensor) for tensor in signature.outputs],
            }
            for signature in shown.signatures
        ],
        "assets": [
            [each.name, each.tensor.partition(":")[0], each.size]
            for each in shown.assets
        ],
        "variables": [
            [
                *_row(tensor),
                "" if tensor.size_bytes is None else show_bytes(tensor.size_bytes),
                (tensor.size_bytes or 0) / (largest or 1),
                tensor.is_constant,
            ]
            for tensor in shown.variables[:MOST_ROWS]
        ],
        "more": max(0, len(shown.variables) - MOST_ROWS),
    }


def _row(tensor: ModelTensor) -> list[Any]:
    op = tensor.op.partition(":")[0]
    return [tensor.key, op, f"{tensor.dtype} {shape_words(tensor.shape)}"]
