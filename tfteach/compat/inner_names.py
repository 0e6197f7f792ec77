"""Names that exist only in TensorFlow's inner modules, where old code imports them.

Source: python/framework/{tensor_shape,ops}.py, python/ops/control_flow_ops.py,
python/ops/ragged/ragged_tensor.py, python/tf2.py (API).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from tfteach.framework.defaults import get_default_graph
from tfteach.framework.export import export
from tfteach.framework.graph import Graph
from tfteach.framework.graphdef.meta_graph import (
    export_meta_graph_def,
    meta_info,
    op_types_of,
)
from tfteach.framework.logger import get_logger
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import Proto


def scalar() -> TensorShape:
    """The shape of a scalar."""
    return TensorShape([])


def vector(length: int | None) -> TensorShape:
    """The shape of a vector."""
    return TensorShape([length])


def matrix(rows: int | None, cols: int | None) -> TensorShape:
    """The shape of a matrix."""
    return TensorShape([rows, cols])


def unknown_shape(ndims: int | None = None) -> TensorShape:
    """A shape of known rank, or of unknown rank if `ndims` is None."""
    return TensorShape(None if ndims is None else [None] * ndims)


def is_ragged(value: Any) -> bool:
    """False: there are no ragged tensors."""
    return False


def create_meta_graph_def(
    meta_info_def: Proto | None = None,
    graph_def: Proto | None = None,
    saver_def: Proto | None = None,
    collection_list: Iterable[Any] | None = None,
    graph: Graph | None = None,
    export_scope: str | None = None,
    exclude_nodes: Container[str] | None = None,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
) -> Any:
    """A MetaGraphDef of parts: `tf.train.export_meta_graph` collects them itself."""
    if clear_extraneous_savers:
        raise NotImplementedError(
            "create_meta_graph_def(clear_extraneous_savers=True): use "
            "tf.train.export_meta_graph"
        )
    return export_meta_graph_def(
        graph or get_default_graph(),
        graph_def,
        saver_def,
        collection_list,
        strip_default_attrs,
        export_scope,
        exclude_nodes or (),
        meta_info_def,
    )


def stripped_op_list_for_graph(graph_def: Proto) -> Any:
    """The OpList of the ops that a GraphDef uses, without documentation."""
    return meta_info(op_types_of(graph_def)).stripped_op_list


@export("op_scope")
@contextmanager
def op_scope(values: Any, name: Any, default_name: Any = None) -> Iterator[str]:
    """`tf.name_scope(name, default_name, values)`, arguments reordered."""
    get_logger().warning(
        "tf.op_scope(values, name, default_name) is deprecated,"
        " use tf.name_scope(name, default_name, values)",
        stacklevel=2,
    )
    with name_scope(name, default_name, values) as scope:
        yield scope
