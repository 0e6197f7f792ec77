"""`show`: a model's file as a view in a notebook, or as a page from the shell."""

from __future__ import annotations

import argparse
import pathlib
import tempfile
import webbrowser
from typing import Any

from tfteach.explain.files.checkpoints import names_checkpoint
from tfteach.framework.errors import OpError


def show(path: Any, graph: int | str = 0, **options: Any) -> Any:
    """A view of a model's file: its graph, signatures and variables; or a checkpoint.

    Nothing runs, and no TensorFlow is needed. Ops that tfteach does not know are drawn
    all the same.

    Args:
      path: a .pb, .pbtxt or .meta file, an event file, a SavedModel's directory; or
        the prefix of a checkpoint, one of its files, or a directory of checkpoints.
      graph: of a file with several graphs, the number of the one to show, or a part of
        its title, such as a tag.
      options: as for `GraphView`.

    Returns:
      A `ModelView` or a `CheckpointView`, which the cell displays.

    Raises:
      NotFoundError: there is no such file.
      InvalidArgumentError: it is no model, or has a field that is not known.
      DataLossError: it is damaged.
      ValueError: the file has no such graph.

    Example:
      >>> import tempfile
      >>> x = tf.placeholder(tf.float32, [None, 2], name="x")
      >>> show(tf.train.write_graph(x.graph, tempfile.mkdtemp(), "model.pb", False))
      ModelView(GraphDef: 1 op)
    """
    from tfteach.jupyter.widgets.checkpoint import CheckpointView
    from tfteach.jupyter.widgets.model import ModelView

    if names_checkpoint(path):
        return CheckpointView(path)
    return ModelView(path, graph, **options)


def show_from_command_line(options: argparse.Namespace) -> str:
    """Write the page of a file, and open it unless `--html` says where to write it.

    Returns:
      What went wrong; "" if nothing did.
    """
    graph = options.graph
    try:
        view = show(options.path, int(graph) if graph.isdecimal() else graph)
        if options.text:
            print(view)
            return ""
        page = pathlib.Path(options.html or _scratch_page(options.path))
        view.save(page)
    except (OpError, OSError, ValueError) as error:
        return str(error.message if isinstance(error, OpError) else error)
    print(f"Wrote {page}, {page.stat().st_size / 1000:.0f} kB")
    if not options.html and not webbrowser.open(page.resolve().as_uri()):
        print("No browser could be opened: open the file yourself")
    return ""


def _scratch_page(path: str) -> str:
    folder = tempfile.mkdtemp(prefix="tfteach_")
    return f"{folder}/{pathlib.PurePath(path).name or 'model'}.html"
