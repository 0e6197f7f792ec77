"""Conversion of GraphDefs to graphs.

The whole GraphDef is converted to nodes before any is appended to the graph, so
that an invalid one leaves the graph unchanged.  Nodes are created in the order of their
dependencies; a loop's back edge (NextIteration to Merge) is closed afterwards.
Source: core/graph/graph_constructor.cc (order, checks and messages),
python/framework/importer.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from tfteach.framework.call_origin import user_frame
from tfteach.framework.defaults import default_graph
from tfteach.framework.dtypes import DType
from tfteach.framework.export import export
from tfteach.framework.graph import Graph
from tfteach.framework.graphdef.import_inputs import (
    mapped_inputs,
    op_of,
    source_of,
    tensor_name,
)
from tfteach.framework.graphdef.import_node import NodeReader, without_hint
from tfteach.framework.graphdef.import_placement import (
    colocated,
    put_on_device,
    rename_groups,
)
from tfteach.framework.op import find_op, op_class
from tfteach.framework.op_traits import Flow
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.protos.attr_value import check_shape
from tfteach.framework.scope import graph_of
from tfteach.framework.shape import TensorShape, merge
from tfteach.framework.shape_inference import infer
from tfteach.framework.topological_order import CycleError, topological_order

CONSUMER = 134  # TF_GRAPH_DEF_VERSION of TensorFlow 1.15
_NODE_NAME = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\\/-]*\Z")


@export("import_graph_def", "graph_util.import_graph_def")
def import_graph_def(
    graph_def: Any,
    input_map: dict[str, Any] | None = None,
    return_elements: list[str] | None = None,
    name: str | None = None,
    op_dict: Any = None,
    producer_op_list: Any = None,
) -> list[Operation | Tensor] | None:
    """Add the nodes of a GraphDef to the default graph.

    Args:
      graph_def: a GraphDef proto (parse bytes with `tf.GraphDef.FromString`).
      input_map: a dict from tensor names in `graph_def` to tensors that replace them.
      return_elements: names of operations and tensors in `graph_def` to return.
      name: prefix of the new names; "import" if None, no prefix if "".
      op_dict: deprecated and without effect, as in TF.
      producer_op_list: an OpList of the program that wrote `graph_def`; attributes that
        are unknown here and have their default value there are dropped.

    Returns:
      The operations and tensors of `return_elements`, or None if that is None.

    Raises:
      TypeError: an argument has an unsupported type.
      ValueError: the GraphDef is not a valid graph, or names in `input_map` or
        `return_elements` are not in it.  The graph is then left unchanged.
      NotFoundError: an op type is unknown (also a ValueError).

    Example:
      >>> graph_def = tf.get_default_graph().as_graph_def()
      >>> with tf.Graph().as_default():
      ...     tf.import_graph_def(graph_def, name="copy")

    Source: core/graph/graph_constructor.cc, python/framework/importer.py.
    """
    return import_graph(graph_def, input_map, return_elements, name, producer_op_list)


def import_graph(
    graph_def: Any,
    input_map: dict[str, Any] | None = None,
    return_elements: list[str] | None = None,
    name: str | None = None,
    producer_op_list: Any = None,
    finish: Callable[[], None] | None = None,
    extends: bool = False,
    keeps_scope_names: bool = False,
) -> list[Operation | Tensor] | None:
    """`import_graph_def` with more arguments.

    Args:
      graph_def, input_map, return_elements, name, producer_op_list: see there.
      finish: called once the nodes are in the graph; if it raises an error, they are
        removed again.
      extends: whether the nodes may use those of the graph by name, as those of a
        session's later GraphDefs do.
      keeps_scope_names: whether a node may have the name of a scope, as one that is
        created may; otherwise its name gets a number.
    """
    graph_def = _as_graph_def(graph_def)
    input_map = {} if input_map is None else input_map
    if not isinstance(input_map, dict) or not all(
        isinstance(k, str | bytes) for k in input_map
    ):
        raise TypeError(
            "input_map must be a dictionary mapping strings to Tensor objects."
        )
    wanted = None if return_elements is None else list(return_elements)
    if wanted is not None and not all(isinstance(w, str | bytes) for w in wanted):
        raise TypeError("return_elements must be a list of strings.")
    graph = graph_of(input_map.values())
    with default_graph(graph), graph.lock, _library_restored(graph):
        graph._check_not_finalized()
        with graph.name_scope("import" if name is None else name) as scope:
            mapped = mapped_inputs(graph, input_map, name)
            for function in graph_def.library.function:
                _check_function_name(function.signature.name)
            graph.add_library(graph_def.library, producer_op_list)
            reader = NodeReader(scope, producer_op_list, graph.functions, extends)
            work = _Import(graph, graph_def, scope, mapped, reader, extends)
            work.keeps_scope_names = keeps_scope_names or extends
            work.run()
            found = (
                None
                if wanted is None
                else [
                    work.element(w.decode() if isinstance(w, bytes) else w)
                    for w in wanted
                ]
            )
        work.commit(finish)
    return found


@contextmanager
def _library_restored(graph: Graph) -> Iterator[None]:
    """After an error, leave the library of functions as it was before the block."""
    before = dict(graph.functions)
    try:
        yield
    except BaseException:
        graph.functions.clear()
        graph.functions.update(before)
        raise


def _as_graph_def(graph_def: Any) -> Any:
    descriptor = getattr(graph_def, "DESCRIPTOR", None)
    if getattr(descriptor, "name", "") != "GraphDef":
        advice = (
            " Parse bytes with tf.GraphDef.FromString(data)."
            if isinstance(graph_def, bytes)
            else ""
        )
        raise TypeError(
            f"graph_def must be a GraphDef proto.{advice} (got "
            f"{type(graph_def).__name__})"
        )
    _check_versions(graph_def.versions)
    return graph_def


def _check_function_name(name: str) -> None:
    if find_op(name) is not None:
        raise ValueError(
            f"Cannot add function '{name}' because an op with the same name already "
            "exists."
        )


def _check_versions(versions: Any) -> None:
    if versions.producer < 0:
        raise ValueError(
            f"GraphDef producer version {versions.producer} below min producer 0 "
            "supported by TensorFlow 1.15.5.  Please regenerate your graph."
        )
    if versions.min_consumer > CONSUMER:
        raise ValueError(
            f"GraphDef min consumer version {versions.min_consumer} above current "
            f"version {CONSUMER} for TensorFlow 1.15.5.  Please upgrade TensorFlow."
        )
    if CONSUMER in versions.bad_consumers:
        raise ValueError(
            f"GraphDef disallows consumer version {CONSUMER}.  Please upgrade "
            "TensorFlow: this version is likely buggy."
        )


class _Edges(NamedTuple):
    """The parsed inputs of a node."""

    data: list[tuple[str, int]]
    control: list[str]


class _Import:
    """One import in progress: from node protos to operations not yet in the graph."""

    def __init__(
        self,
        graph: Graph,
        graph_def: Any,
        scope: str,
        mapped: dict[str, Tensor],
        reader: NodeReader,
        extends: bool,
    ) -> None:
        self.graph, self.scope, self.reader = graph, scope, reader
        self.mapped: dict[str, Tensor | Operation] = {**mapped}
        self.extends, self.keeps_scope_names = extends, False
        self.nodes: list[Any] = [without_hint(node) for node in graph_def.node]
        self.producer = graph_def.versions.producer
        self.index: dict[str, int] = {}
        self.edges: list[_Edges] = []
        self.renamed: dict[str, str] = {}
        self.made: dict[str, Operation] = {}
        self.order: list[Operation] = []
        self.used: set[str] = set()
        self.open_loops: list[tuple[Operation, _Edges]] = []
        self.taken: set[str] = set()
        self.origin = user_frame()

    def run(self) -> None:
        """Create all operations."""
        for i, node in enumerate(self.nodes):
            name = node.name
            # TensorFlow's masters add nodes whose names begin with an underscore.
            if not _NODE_NAME.match(name.removeprefix("_") if self.extends else name):
                raise ValueError(
                    f"Node '{name}': Node name contains invalid characters"
                )
            if name in self.index:
                raise ValueError(f"Node '{name}' is not unique")
            self.index[name] = i
        self.edges = [self._edges_of(node) for node in self.nodes]
        self._name_nodes()
        for i in self._in_order():
            self._make(i)
        for op, edges in self.open_loops:
            op.inputs = tuple(self._input(op.name, *source) for source in edges.data)
        for key in self.mapped:
            source = key.lstrip("^").partition(":")[0]
            if key not in self.used and source not in self.index:
                raise ValueError(
                    f"Attempted to map inputs that were not found in graph_def: [{key}]"
                )

    def _edges_of(self, node: Any) -> _Edges:
        edges = _Edges([], [])
        for source in node.input:
            if self.extends:
                self._use_known(source)
            if source[:1] == "^":
                if source in self.mapped:
                    self.used.add(source)
                elif source[1:] not in self.index:
                    raise ValueError(
                        f"Node '{node.name}': Unknown input node '{source}'"
                    )
                edges.control.append(source[1:])
                continue
            if edges.control:
                raise ValueError(
                    f"Node '{node.name}': Control dependencies must come after regular "
                    "dependencies"
                )
            name, index = source_of(source)
            if name not in self.index and f"{name}:{index}" not in self.mapped:
                raise ValueError(f"Node '{node.name}': Unknown input node '{source}'")
            edges.data.append((name, index))
        return edges

    def _use_known(self, source: str) -> None:
        """Map an input to an operation of the graph, if it is there and not new."""
        is_control = source[:1] == "^"
        name, index = (source[1:], 0) if is_control else source_of(source)
        op = None if name in self.index else self.graph._by_name.get(name)
        if op is None:
            return
        if is_control:
            self.mapped[source] = op
        elif index < len(op.outputs):
            self.mapped[f"{name}:{index}"] = op.outputs[index]

    def _name_nodes(self) -> None:
        """Choose the final names; without a prefix they may collide."""
        existing = self.graph._by_name
        scopes = set[str]()
        if not self.keeps_scope_names:
            scopes = {n[: n.rfind("/")] for n in existing if "/" in n}
        for name in self.index:
            full = self.scope + name
            count = 0
            while (
                full in existing
                or full in scopes
                or (count and full[len(self.scope) :] in self.index)
            ):
                count += 1
                full = f"{self.scope}{name}_{count}"
            self.renamed[name] = full

    def _in_order(self) -> list[int]:
        """The nodes' indices, each after its inputs, otherwise in file order."""
        try:
            return topological_order(range(len(self.nodes)), self._sources_of)
        except CycleError as error:
            names = [self.nodes[i].name for i in error.items[:5]]
            raise ValueError(
                f"{len(error.items)} nodes in a cycle. Only a loop's NextIteration may "
                f"lead back; these wait for each other: {', '.join(names)}"
            ) from None

    def _sources_of(self, i: int) -> list[int]:
        """The nodes that must be imported first; without the back edges of loops."""
        data, control = self.edges[i]
        names = [n for n, k in data if f"{n}:{k}" not in self.mapped]
        sources = [self.index[name] for name in names]
        if op_class(self.nodes[i].op).flow is Flow.MERGE:
            # A Merge without an entry from outside the loop remains in a cycle.
            entries = [s for s in sources if not self._is_next_iteration(s)]
            sources = entries or sources
        waits = [self.index[name] for name in control if f"^{name}" not in self.mapped]
        return sources + waits

    def _is_next_iteration(self, i: int) -> bool:
        return op_class(self.nodes[i].op).closes_loop

    # ---- one node

    def _input(self, consumer: str, name: str, index: int) -> Tensor:
        key = f"{name}:{index}"
        if key in self.mapped:
            self.used.add(key)
            return self.mapped[key]  # type: ignore[return-value]  # only "^x" are ops
        outputs = self.made[name].outputs
        if index >= len(outputs):
            raise ValueError(
                f"Node '{consumer.removeprefix(self.scope)}': Connecting to invalid "
                f"output {index} of source node {name} which has {len(outputs)} "
                "outputs."
            )
        return outputs[index]

    def _make(self, i: int) -> None:
        node, edges = self.nodes[i], self.edges[i]
        read = self.reader.read(node)
        name = self.renamed[node.name]
        back = [
            n
            for n, k in edges.data
            if n not in self.made and f"{n}:{k}" not in self.mapped
        ]
        sources = [s for s in edges.data if s[0] not in back] if back else edges.data
        inputs = [self._input(name, *source) for source in sources]
        if back:
            inputs += inputs[:1] * len(back)
        self.reader.check_inputs(read, inputs, name)
        op = Operation.__new__(Operation)
        op.graph, op.name, op.spec = self.graph, name, read.spec
        op.inputs = tuple(inputs)
        output_dtypes, shapes = self._inferred(op)
        op.outputs = [
            Tensor(op, k, dtype, None if back else shapes[k])
            for k, dtype in enumerate(output_dtypes)
        ]
        op.extra_attrs = dict(read.extra) if read.extra else None
        op.control_flow_context = None
        op._origin = self.origin
        controls = [
            op_of(self.mapped[f"^{n}"]) if f"^{n}" in self.mapped else self.made[n]
            for n in dict.fromkeys(edges.control)
        ]
        op.control_inputs = sorted(controls, key=lambda c: c.name)
        if controls != op.control_inputs:
            op.imported_controls = controls  # type: ignore[attr-defined]
        if read.shapes is not None:
            self._take_shapes(op, read.shapes)
        if back:
            self.open_loops.append((op, edges))
        op.device = node.device
        self.made[node.name] = op
        self.order.append(op)

    def _inferred(self, op: Operation) -> tuple[list[DType], list[Any]]:
        try:
            return infer(op.spec, op.inputs, op.name)
        except TypeError as error:
            raise ValueError(f"{error} (node '{op.name}')") from None

    def _check_output_shapes(self, op: Operation, protos: list[Any]) -> list[Any]:
        """The static shapes of an `_output_shapes` attribute."""
        if len(protos) < len(op.outputs):
            raise ValueError(
                f"Node '{op.name}' has {len(op.outputs)} outputs but the "
                "_output_shapes attribute specifies shapes for "
                f"{len(protos)} outputs"
            )
        for i, proto in enumerate(protos):
            try:
                check_shape(proto)
            except ValueError as error:
                raise ValueError(
                    f"Node '{op.name}' has an invalid _output_shapes attribute (shape "
                    f"#{i} error: '{error}')"
                ) from None
        return [TensorShape(proto).dims_or_none for proto in protos]

    def _take_shapes(self, op: Operation, shapes: Any) -> None:
        known = self._check_output_shapes(op, shapes)
        for tensor, shape in zip(op.outputs, known, strict=False):
            try:
                tensor._shape = merge(tensor._shape, shape)
            except ValueError:
                if self.producer > CONSUMER:
                    continue  # newer versions know other shapes, and need not be right
                raise ValueError(
                    f"Node '{op.name}' has an _output_shapes attribute inconsistent "
                    f"with shapes for output #{tensor.value_index}: "
                    f"{TensorShape(shape)} against {tensor.shape}"
                ) from None

    # ---- the end

    def element(self, name: str) -> Operation | Tensor:
        """The imported operation or tensor that had this name in the GraphDef."""
        if ":" not in name:
            if name not in self.made:
                raise ValueError(
                    f"Requested return node '{name}' not found in graph def"
                )
            return self.made[name]
        op_name, index = tensor_name(name)
        if f"{op_name}:{index}" in self.mapped:
            return self.mapped[f"{op_name}:{index}"]
        if op_name not in self.made:
            raise ValueError(f"Requested return tensor '{name}' not found in graph def")
        outputs = self.made[op_name].outputs
        if index >= len(outputs):
            raise ValueError(
                f"Invalid return output {index} of node '{op_name}', which has "
                f"{len(outputs)} output(s)"
            )
        return outputs[index]

    def commit(self, finish: Callable[[], None] | None = None) -> None:
        """Append the operations, with the devices of the open scopes.

        After an error in `finish` they are removed, before observers are notified.
        """
        graph, scopes = self.graph, self.graph.scopes.state
        for op in self.order:  # everything that can fail precedes the first append
            rename_groups(op, self.renamed, self.scope, self.extends)
            put_on_device(op, self.scope)
        by_name = {op.name: op for op in self.order}
        for op in self.order:
            for name in colocated(op):
                other = by_name.get(name)
                if other is not None and other is not op and other.device:
                    op.device = other.device
                    break
        for op in self.order:
            if scopes.control:
                held = scopes.control_inputs_for({t.op for t in op.inputs})
                new = [c for c in held if c not in op.control_inputs]
                op.control_inputs = [*op.control_inputs, *new]
            graph._names_in_use.setdefault(op.name.lower(), 1)
            graph.append(op, announce=False)
        if finish is not None:
            try:
                finish()
            except BaseException:
                graph.take_back(self.order)
                raise
        for op in self.order:
            if scopes.context is not None:
                op.control_flow_context = scopes.context
                scopes.context.add_op(op)
            graph.announce(op)
