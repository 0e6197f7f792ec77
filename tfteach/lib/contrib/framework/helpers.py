"""Public names of functions defined elsewhere, and utilities.

Source: contrib/framework/python/framework/.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.control.checks.ranks import assert_scalar as assert_scalar
from tfteach.control.checks.types import (
    assert_same_float_dtype as assert_same_float_dtype,
)
from tfteach.control.checks.weights import remove_squeezable_dimensions as _squeezed
from tfteach.framework.convert import convert
from tfteach.framework.export import export, export_value
from tfteach.framework.graph import Graph, get_default_graph
from tfteach.framework.graphdef.meta_graph import prepended, stripped
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import graph_of, name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.core.placeholder import Placeholder
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.core.sparse_tensor import (
    convert_to_tensor_or_sparse_tensor as convert_to_tensor_or_sparse_tensor,
)
from tfteach.ops.math.add_n import add_n
from tfteach.ops.math.reduce_functions import reduce_sum
from tfteach.variables.base import Variable

for _name in (
    "assert_scalar assert_same_float_dtype convert_to_tensor_or_sparse_tensor"
).split():
    export_value(__name__, **{_name: "contrib.framework." + _name})


@export("contrib.framework.assert_scalar_int")
def assert_scalar_int(tensor: TensorLike, name: str | None = None) -> Tensor:
    """`tensor` as a Tensor, which must be a scalar int32 or int64.

    Raises:
      ValueError: it is not.
    """
    with name_scope(name, "assert_scalar_int", [tensor]) as scope:
        tensor = convert(tensor)
        if not tensor.dtype.base_dtype.is_integer:
            raise ValueError(
                f"Expected integer type for {tensor.name}, received type: "
                f"{tensor.dtype}."
            )
        return assert_scalar(tensor, name=scope)


@export("contrib.framework.is_tensor", "is_tensor")
def is_tensor(x: TensorLike) -> bool:
    """Whether `x` is a Tensor, a SparseTensor or a Variable."""
    return isinstance(x, Tensor | SparseTensor | Variable)


@export("contrib.framework.get_name_scope")
def get_name_scope() -> str:
    """The open name scope; "" outside of any."""
    return get_default_graph().get_name_scope()


@export("contrib.framework.get_placeholders")
def get_placeholders(graph: Graph) -> list[Tensor]:
    """The placeholders of a graph."""
    operations = graph.get_operations()
    return [op.outputs[0] for op in operations if isinstance(op.spec, Placeholder)]


@export("contrib.framework.get_graph_from_inputs")
def get_graph_from_inputs(
    op_input_list: Sequence[Any], graph: Graph | None = None
) -> Any:
    """The graph of tensors; `graph` if there are no tensors.

    Raises:
      ValueError: they belong to different graphs.
    """
    found = graph_of([*([] if graph is None else [_Of(graph)]), *op_input_list])
    return found


class _Of:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph


@export("contrib.framework.reduce_sum_n")
def reduce_sum_n(tensors: Sequence[Any], name: str | None = None) -> Tensor:
    """The sum of all elements of several Tensors, a scalar.

    Raises:
      ValueError: there are no tensors.
    """
    if not tensors:
        raise ValueError("No tensors provided.")
    with name_scope(name, "reduce_sum_n", tensors) as scope:
        sums = [reduce_sum(t, name=f"{t.op.name}/sum") for t in tensors]
        return sums[0] if len(sums) == 1 else add_n(sums, name=scope)


@export("contrib.framework.remove_squeezable_dimensions")
def remove_squeezable_dimensions(
    predictions: TensorLike, labels: TensorLike, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Both, without a surplus last dimension of size 1 in one of them."""
    labels, predictions = _squeezed(labels, predictions, name=name)
    return predictions, labels


@export("contrib.framework.prepend_name_scope")
def prepend_name_scope(name: str, import_scope: str | None) -> str:
    """A node's name below a scope; also "^name" and "loc:@name".

    Args:
      name: the name.
      import_scope: the scope; None or "" for none.

    Example:
      >>> tf.contrib.framework.prepend_name_scope("^x/y", "s")
      '^s/x/y'

    Source: python/framework/ops.py, prepend_name_scope.
    """
    return prepended(name, import_scope)


@export("contrib.framework.strip_name_scope")
def strip_name_scope(name: str, export_scope: str | None) -> str:
    """A node's name without the scope it begins with; else the same name.

    Args:
      name: the name; also "^name" and "loc:@name".
      export_scope: the scope; None or "" for none.

    Example:
      >>> tf.contrib.framework.strip_name_scope("loc:@s/x", "s")
      'loc:@x'

    Source: python/framework/ops.py, strip_name_scope.
    """
    return stripped(name, export_scope)
