"""Views of graphs and runs, and magics, for notebooks.

`%load_ext tfteach` registers the magics. The views work in any host of anywidget;
`print(view)` and `view.to_text()` need no front end.
"""

# Read widgets/graph.py (the live view), graph_stream.py (how growth reaches the page),
# pictures/ (picture_contents.py, then graph_svg.py), display.py (a cell's output),
# magics/.

from typing import TYPE_CHECKING, Any

from tfteach.framework.lazy_names import imported, lazy_getattr

if TYPE_CHECKING:
    from tfteach.jupyter.show_file import show as show
    from tfteach.jupyter.widgets.checkpoint import CheckpointView as CheckpointView
    from tfteach.jupyter.widgets.cluster import ClusterView as ClusterView
    from tfteach.jupyter.widgets.collections import CollectionsView as CollectionsView
    from tfteach.jupyter.widgets.difference import GraphDiff as GraphDiff
    from tfteach.jupyter.widgets.eager import EagerView as EagerView
    from tfteach.jupyter.widgets.explore import explore as explore
    from tfteach.jupyter.widgets.graph import GraphView as GraphView
    from tfteach.jupyter.widgets.growth import GrowthView as GrowthView
    from tfteach.jupyter.widgets.memory import MemoryView as MemoryView
    from tfteach.jupyter.widgets.model import ModelView as ModelView
    from tfteach.jupyter.widgets.optimizing import OptimizingView as OptimizingView
    from tfteach.jupyter.widgets.pipeline import PipelineView as PipelineView
    from tfteach.jupyter.widgets.placement import PlacementView as PlacementView
    from tfteach.jupyter.widgets.rows import RowsView as RowsView
    from tfteach.jupyter.widgets.run import RunView as RunView
    from tfteach.jupyter.widgets.schedule import ScheduleView as ScheduleView
    from tfteach.jupyter.widgets.sessions import SessionsView as SessionsView
    from tfteach.jupyter.widgets.sharing import SharingView as SharingView
    from tfteach.jupyter.widgets.step import StepView as StepView
    from tfteach.jupyter.widgets.timeline import TimelineView as TimelineView
    from tfteach.jupyter.widgets.trace import TraceView as TraceView

# Imported when first used: magics and pictures need none of the views.
_VIEWS = {
    "CheckpointView": "checkpoint",
    "ClusterView": "cluster",
    "CollectionsView": "collections",
    "EagerView": "eager",
    "GraphDiff": "difference",
    "GraphView": "graph",
    "GrowthView": "growth",
    "MemoryView": "memory",
    "ModelView": "model",
    "OptimizingView": "optimizing",
    "PipelineView": "pipeline",
    "PlacementView": "placement",
    "RowsView": "rows",
    "RunView": "run",
    "ScheduleView": "schedule",
    "SessionsView": "sessions",
    "SharingView": "sharing",
    "StepView": "step",
    "TimelineView": "timeline",
    "TraceView": "trace",
}

_LATER = {**_VIEWS, "explore": "explore"}

__all__ = [*_LATER, "load_ipython_extension", "show", "unload_ipython_extension"]


def load_ipython_extension(shell: Any) -> None:
    """Register the magics; `%load_ext tfteach` calls this.

    From then on `import tensorflow` imports tfteach where no TensorFlow is installed,
    unless the option `c.TfteachMagics.import_tensorflow` is False. Deprecation
    warnings are switched off, since they would appear in the output of cells and
    recommend TensorFlow 2's names.

    Args:
      shell: IPython's shell.

    Example:
      %load_ext tfteach
    """
    from tfteach.framework import deprecation
    from tfteach.jupyter.magics import register
    from tfteach.jupyter.pictures import model_pictures

    deprecation._PRINT_DEPRECATION_WARNINGS = False
    register(shell)
    model_pictures.register(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Undo what `load_ipython_extension` did; `%unload_ext tfteach` calls this.

    Args:
      shell: IPython's shell.

    Example:
      %unload_ext tfteach
    """
    from tfteach.framework import deprecation
    from tfteach.jupyter.magics import unregister
    from tfteach.jupyter.pictures import model_pictures

    deprecation._PRINT_DEPRECATION_WARNINGS = True
    unregister(shell)
    model_pictures.unregister(shell)


_PLACES = {
    name: (f"tfteach.jupyter.widgets.{module}", name) for name, module in _LATER.items()
}
_PLACES["show"] = ("tfteach.jupyter.show_file", "show")
__getattr__ = lazy_getattr(__name__, imported(_PLACES))
