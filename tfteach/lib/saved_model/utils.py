"""TensorInfo protos, and the paths inside a SavedModel.

Source: python/saved_model/utils_impl.py.
"""

from __future__ import annotations

import os
from typing import Any

from tfteach.framework.dtypes import as_dtype
from tfteach.framework.export import export
from tfteach.framework.files.file_system import resolve
from tfteach.framework.graph import Graph, get_default_graph
from tfteach.framework.graphdef.meta_graph import prepended
from tfteach.framework.operation import Tensor
from tfteach.framework.protos import pool
from tfteach.framework.type_aliases import PathLike, Proto, TensorLike
from tfteach.lib.saved_model import constants
from tfteach.ops.core.sparse_tensor import SparseTensor


@export("saved_model.build_tensor_info", "saved_model.utils.build_tensor_info")
def build_tensor_info(tensor: TensorLike) -> Proto:
    """A TensorInfo proto: the name, type and static shape of a tensor.

    Args:
      tensor: a Tensor, Variable or SparseTensor.

    Returns:
      A TensorInfo.  That of a SparseTensor has the names of its three Tensors.

    Raises:
      AttributeError: `tensor` is not a tensor.

    Example:
      >>> x = tf.placeholder(tf.float32, [None, 4], name="x")
      >>> tf.saved_model.build_tensor_info(x).name
      'x:0'

    Source: python/saved_model/utils_impl.py.
    """
    item: Any = tensor
    info = pool.message("TensorInfo")(
        dtype=as_dtype(item.dtype).base_dtype.as_datatype_enum,
        tensor_shape=item.get_shape().as_proto(),
    )
    if isinstance(item, SparseTensor):
        info.coo_sparse.values_tensor_name = item.values.name
        info.coo_sparse.indices_tensor_name = item.indices.name
        info.coo_sparse.dense_shape_tensor_name = item.dense_shape.name
    else:
        info.name = item.name
    return info


@export(
    "saved_model.get_tensor_from_tensor_info",
    "saved_model.utils.get_tensor_from_tensor_info",
)
def get_tensor_from_tensor_info(
    tensor_info: Proto, graph: Graph | None = None, import_scope: str | None = None
) -> Tensor | SparseTensor:
    """The tensor that a TensorInfo proto describes.

    Args:
      tensor_info: a TensorInfo.
      graph: the graph; the default graph if None.
      import_scope: the name scope that the graph was imported in.

    Returns:
      A Tensor or SparseTensor.

    Raises:
      KeyError: the graph has no such tensor.
      ValueError: `tensor_info` names none.

    Example:
      >>> info = meta_graph.signature_def["serving_default"].inputs["x"]
      >>> x = tf.saved_model.get_tensor_from_tensor_info(info)

    Source: python/saved_model/utils_impl.py.
    """
    info = tensor_info
    found = graph or get_default_graph()

    def tensor(name: str) -> Tensor:
        return found.get_tensor_by_name(prepended(name, import_scope))

    encoding = info.WhichOneof("encoding")
    if encoding == "name":
        return tensor(info.name)
    if encoding == "coo_sparse":
        parts = info.coo_sparse
        return SparseTensor(
            tensor(parts.indices_tensor_name),
            tensor(parts.values_tensor_name),
            tensor(parts.dense_shape_tensor_name),
        )
    if encoding == "composite_tensor":
        raise NotImplementedError(
            "The TensorInfo describes a composite tensor, such as a RaggedTensor: "
            "these are not implemented"
        )
    raise ValueError(f"Invalid TensorInfo.encoding: {encoding}")


# ---- paths


def in_model(export_dir: PathLike, *names: str) -> str:
    """The path of something in a SavedModel."""
    return os.path.join(resolve(export_dir), *names)


def variables_path(export_dir: PathLike) -> str:
    """The prefix of a SavedModel's checkpoint."""
    return in_model(
        export_dir, constants.VARIABLES_DIRECTORY, constants.VARIABLES_FILENAME
    )
