"""Freezes a model in files: one GraphDef, with constants in place of its variables.

    python -m tfteach.lib.inference.freeze_graph --input_saved_model_dir=models/1 \
        --output_node_names=prediction --output_graph=frozen.pb

Programs import it as `tensorflow.python.tools.freeze_graph`; that name runs, too:

    python -m tfteach run -m tensorflow.python.tools.freeze_graph --input_graph=...

Source: python/tools/freeze_graph.py.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from typing import Any

from tfteach.engine.session.session import Session
from tfteach.framework.convert import convert
from tfteach.framework.files import file_system
from tfteach.framework.files.checkpoint import read_checkpoint
from tfteach.framework.files.file_system import resolve
from tfteach.framework.files.pending_file import write_file
from tfteach.framework.graph import Graph
from tfteach.framework.graphdef.import_graph_def import import_graph_def
from tfteach.framework.protos import pool
from tfteach.framework.type_aliases import PathLike, Proto
from tfteach.lib.files.checkpoint_management import is_checkpoint
from tfteach.lib.files.graph_io import read_message
from tfteach.lib.files.meta_graph import import_meta_graph
from tfteach.lib.files.saver import Saver
from tfteach.lib.inference.graph_util import convert_variables_to_constants
from tfteach.lib.saved_model.loader import SavedModelLoader
from tfteach.ops.state.ref_variables import Assign, Variable, VariableV2
from tfteach.ops.state.resource_variables import AssignVariableOp, VarHandleOp


def freeze_graph(
    input_graph: PathLike | None,
    input_saver: PathLike | None,
    input_binary: bool,
    input_checkpoint: PathLike | None,
    output_node_names: str,
    restore_op_name: str | None,
    filename_tensor_name: str | None,
    output_graph: PathLike | None,
    clear_devices: bool,
    initializer_nodes: str | None,
    variable_names_whitelist: str = "",
    variable_names_blacklist: str = "",
    input_meta_graph: PathLike | None = None,
    input_saved_model_dir: PathLike | None = None,
    saved_model_tags: str = "serve",
    checkpoint_version: int = 2,
) -> Proto:
    """A GraphDef with constants in place of variables, also written to a file.

    The model is a GraphDef, a MetaGraphDef or a SavedModel.

    Args:
      input_graph: the file of a GraphDef.
      input_saver: the file of the SaverDef to restore it with, or "".
      input_binary: whether these files are binary; otherwise text.
      input_checkpoint: the path of the checkpoint, of either version.
      output_node_names: the names of the output nodes, separated by commas.
      restore_op_name, filename_tensor_name: without effect, as in TF.
      output_graph: the file to write, or "".
      clear_devices: omit the nodes' devices.
      initializer_nodes: the names of nodes to run after restoring, separated by commas.
      variable_names_whitelist: the variables to convert; all of them if "".
      variable_names_blacklist: variables to leave.
      input_meta_graph: the file of a MetaGraphDef, instead of `input_graph`.
      input_saved_model_dir: a SavedModel, instead of graph and checkpoint.
      saved_model_tags: its MetaGraph's tags, separated by commas.
      checkpoint_version: without effect: the files tell.

    Returns:
      A GraphDef.

    Raises:
      OSError: a file does not exist, or is damaged.
      ValueError: there is no checkpoint, no output node, or no variable.
      RuntimeError: the SavedModel has no such tags.

    Source: python/tools/freeze_graph.py.
    """

    def read(path: PathLike | None, message: str, what: str) -> Proto | None:
        if not path:
            return None
        if not file_system.exists(resolve(path)):
            raise OSError(f"Input {what} file '{path}' does not exist!")
        return read_message(path, pool.message(message), not input_binary)

    graph_def = read(input_graph, "GraphDef", "graph")
    tags = _split(saved_model_tags)
    if input_saved_model_dir:
        loader = SavedModelLoader(input_saved_model_dir)
        graph_def = loader.get_meta_graph_def_from_tags(tags).graph_def
    return freeze_graph_with_def_protos(
        graph_def,
        read(input_saver, "SaverDef", "saver"),
        input_checkpoint,
        output_node_names,
        restore_op_name,
        filename_tensor_name,
        output_graph,
        clear_devices,
        initializer_nodes,
        variable_names_whitelist,
        variable_names_blacklist,
        read(input_meta_graph, "MetaGraphDef", "meta graph"),
        input_saved_model_dir,
        tags,
        checkpoint_version,
    )


def freeze_graph_with_def_protos(
    input_graph_def: Proto | None,
    input_saver_def: Proto | None,
    input_checkpoint: PathLike | None,
    output_node_names: str,
    restore_op_name: str | None,
    filename_tensor_name: str | None,
    output_graph: PathLike | None,
    clear_devices: bool,
    initializer_nodes: str | None,
    variable_names_whitelist: str = "",
    variable_names_blacklist: str = "",
    input_meta_graph_def: Proto | None = None,
    input_saved_model_dir: PathLike | None = None,
    saved_model_tags: Sequence[str] | None = None,
    checkpoint_version: int = 2,
) -> Proto:
    """`freeze_graph` of protos instead of files."""
    if not input_saved_model_dir and not (
        input_checkpoint and is_checkpoint(os.fspath(input_checkpoint))
    ):
        raise ValueError(f"Input checkpoint '{input_checkpoint}' doesn't exist!")
    if not output_node_names:
        raise ValueError(
            "You need to supply the name of a node to --output_node_names."
        )
    graph_def = _copy_of(
        input_graph_def
        if input_meta_graph_def is None
        else input_meta_graph_def.graph_def,
        clear_devices,
    )
    with Graph().as_default(), Session() as session:
        if input_saved_model_dir:
            loader = SavedModelLoader(input_saved_model_dir)
            loader.load(session, saved_model_tags or [])
        elif input_meta_graph_def is not None and input_saver_def is None:
            saver = import_meta_graph(input_meta_graph_def, clear_devices=True)
            if saver is None:
                raise ValueError(_NO_VARIABLES)
            saver.restore(session, os.fspath(input_checkpoint or ""))
        else:
            import_graph_def(graph_def, name="")
            if input_saver_def is not None:
                saver = Saver(saver_def=input_saver_def)
                saver.restore(session, os.fspath(input_checkpoint or ""))
            else:
                _restore_by_name(session, os.fspath(input_checkpoint or ""))
        if initializer_nodes:
            session.run(_split(initializer_nodes))
        frozen = convert_variables_to_constants(
            session,
            graph_def,
            _split(output_node_names),
            _split(variable_names_whitelist) or None,
            _split(variable_names_blacklist) or None,
        )
    if output_graph:
        write_file(os.fspath(output_graph), frozen.SerializeToString())
    return frozen


_NO_VARIABLES = (
    "No variables were found in this model. It is likely the model was frozen "
    "previously. You cannot freeze a graph twice."
)


def _split(names: str | None) -> list[str]:
    return [name.strip() for name in (names or "").split(",") if name.strip()]


def _copy_of(graph_def: Proto | None, clear_devices: bool) -> Proto:
    if graph_def is None:
        raise ValueError(
            "There is no graph to freeze: give an input_graph, an input_meta_graph or "
            "an input_saved_model_dir"
        )
    copy = pool.message("GraphDef")()
    copy.MergeFromString(graph_def.SerializeToString())
    if clear_devices:
        for node in copy.node:
            node.device = ""
    return copy


def _restore_by_name(session: Any, checkpoint: str) -> None:
    """Give each variable node the value that the checkpoint has under its name."""
    graph = session.graph
    variables = {
        op.name: op
        for op in graph.get_operations()
        if isinstance(op.spec, (Variable, VariableV2, VarHandleOp))
    }
    if not variables:
        raise ValueError(_NO_VARIABLES)

    def assign(reader: Any) -> None:
        for name in sorted(reader.types_and_shapes()):
            if any(re.match(re.escape(name) + r"/part_\d+\Z", v) for v in variables):
                raise ValueError(
                    "Models containing partition variables cannot be converted from "
                    "checkpoint files. Please pass in a SavedModel using the flag "
                    f"--input_saved_model_dir. ('{name}' is one.)"
                )
            if name not in variables:
                continue  # such as the optimizer's
            op = variables[name]
            value = convert(reader.read(name), reader.dtype_of(name))
            if isinstance(op.spec, VarHandleOp):
                session.run(AssignVariableOp()(op.outputs[0], value))
            else:
                session.run(Assign()(op.outputs[0], value))

    read_checkpoint(checkpoint, assign)


def main(arguments: Sequence[str]) -> int:
    """Freeze what the command line names.

    Args:
      arguments: without the program's name.

    Returns:
      The exit status.
    """

    def truth(text: str) -> bool:
        return text.lower() == "true"

    parser = argparse.ArgumentParser(prog="freeze_graph", description=__doc__)
    for name, default in (
        ("input_graph", ""),
        ("input_saver", ""),
        ("input_checkpoint", ""),
        ("output_graph", ""),
        ("output_node_names", ""),
        ("restore_op_name", "save/restore_all"),
        ("filename_tensor_name", "save/Const:0"),
        ("initializer_nodes", ""),
        ("variable_names_whitelist", ""),
        ("variable_names_blacklist", ""),
        ("input_meta_graph", ""),
        ("input_saved_model_dir", ""),
        ("saved_model_tags", "serve"),
    ):
        parser.add_argument(f"--{name}", default=default)
    parser.add_argument("--checkpoint_version", type=int, default=2, choices=(1, 2))
    for name, given in (("input_binary", False), ("clear_devices", True)):
        parser.add_argument(
            f"--{name}", nargs="?", const=True, type=truth, default=given
        )
    options = parser.parse_args(arguments)
    try:
        frozen = freeze_graph(**vars(options))
    except (OSError, ValueError, RuntimeError, AssertionError) as error:
        print(f"freeze_graph: {error}", file=sys.stderr)
        return 1
    print(f"{len(frozen.node)} ops in the frozen graph.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
