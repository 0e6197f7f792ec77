"""Explanations of what a graph, a run or a session does, as plain data.

Every function returns an object that can be printed, tested, or passed to a view of
`tfteach.jupyter`; nothing here depends on Jupyter.
"""

# Read graph_rows.py (the ops of a graph as rows), scope_tree.py (its scopes), then one
# module for each question, as docs/explain.md lists them.

from typing import TYPE_CHECKING

from tfteach.framework.lazy_names import imported, lazy_getattr

if TYPE_CHECKING:
    from tfteach.explain.card_convolutions import (
        explain_card_convolutions as explain_card_convolutions,
    )
    from tfteach.explain.checkpoints import explain_checkpoint as explain_checkpoint
    from tfteach.explain.cluster_step import messages_of as messages_of
    from tfteach.explain.cluster_step import trace_step as trace_step
    from tfteach.explain.clusters import explain_cluster as explain_cluster
    from tfteach.explain.collections import explain_collections as explain_collections
    from tfteach.explain.critical_path import critical_path_of as critical_path_of
    from tfteach.explain.critical_path import (
        explain_critical_path as explain_critical_path,
    )
    from tfteach.explain.cuda_graphs import explain_cuda_graphs as explain_cuda_graphs
    from tfteach.explain.dataset_elements import elements_of as elements_of
    from tfteach.explain.eager_growth import watch_eager as watch_eager
    from tfteach.explain.eager_recording import record_eager as record_eager
    from tfteach.explain.folding import explain_folding as explain_folding
    from tfteach.explain.folding import unfolded as unfolded
    from tfteach.explain.function_calls import explain_function as explain_function
    from tfteach.explain.function_calls import watch_functions as watch_functions
    from tfteach.explain.graph_log import GraphLog as GraphLog
    from tfteach.explain.graph_log import watch_graphs as watch_graphs
    from tfteach.explain.growth import Growth as Growth
    from tfteach.explain.growth import watch_growth as watch_growth
    from tfteach.explain.memory import MemoryWatch as MemoryWatch
    from tfteach.explain.memory import memory_of as memory_of
    from tfteach.explain.memory import watch_memory as watch_memory
    from tfteach.explain.model_files import read_model as read_model
    from tfteach.explain.names import explain_name as explain_name
    from tfteach.explain.optimizing import explain_optimizing as explain_optimizing
    from tfteach.explain.pipeline_rates import PipelineRun as PipelineRun
    from tfteach.explain.pipeline_rates import watch_pipelines as watch_pipelines
    from tfteach.explain.pipeline_state import pipelines_now as pipelines_now
    from tfteach.explain.pipelines import explain_pipelines as explain_pipelines
    from tfteach.explain.pruning import RunNeeds as RunNeeds
    from tfteach.explain.pruning import explain_run as explain_run
    from tfteach.explain.row_updates import watch_rows as watch_rows
    from tfteach.explain.runs import watch_runs as watch_runs
    from tfteach.explain.schedule import explain_schedule as explain_schedule
    from tfteach.explain.sessions import SessionLog as SessionLog
    from tfteach.explain.sessions import state_of as state_of
    from tfteach.explain.sharing import explain_sharing as explain_sharing
    from tfteach.explain.stepping import record as record
    from tfteach.explain.task_reasons import explain_task as explain_task
    from tfteach.explain.timing import timed as timed
    from tfteach.explain.timing import times_of as times_of

# Imported when first used.  `placement`, `difference` and `status` are not among
# them: a package cannot have a function and a module of one name.
_LATER = {
    "GraphLog": "graph_log",
    "Growth": "growth",
    "MemoryWatch": "memory",
    "PipelineRun": "pipeline_rates",
    "RunNeeds": "pruning",
    "SessionLog": "sessions",
    "critical_path_of": "critical_path",
    "elements_of": "dataset_elements",
    "explain_card_convolutions": "card_convolutions",
    "explain_checkpoint": "checkpoints",
    "explain_cluster": "clusters",
    "explain_collections": "collections",
    "explain_critical_path": "critical_path",
    "explain_cuda_graphs": "cuda_graphs",
    "explain_folding": "folding",
    "explain_function": "function_calls",
    "explain_name": "names",
    "explain_optimizing": "optimizing",
    "explain_pipelines": "pipelines",
    "explain_run": "pruning",
    "explain_schedule": "schedule",
    "explain_sharing": "sharing",
    "explain_task": "task_reasons",
    "memory_of": "memory",
    "messages_of": "cluster_step",
    "pipelines_now": "pipeline_state",
    "read_model": "model_files",
    "record": "stepping",
    "record_eager": "eager_recording",
    "state_of": "sessions",
    "timed": "timing",
    "times_of": "timing",
    "trace_step": "cluster_step",
    "unfolded": "folding",
    "watch_eager": "eager_growth",
    "watch_functions": "function_calls",
    "watch_graphs": "graph_log",
    "watch_growth": "growth",
    "watch_memory": "memory",
    "watch_pipelines": "pipeline_rates",
    "watch_rows": "row_updates",
    "watch_runs": "runs",
}

__all__ = [*_LATER]


_PLACES = {name: (f"tfteach.explain.{module}", name) for name, module in _LATER.items()}
__getattr__ = lazy_getattr(__name__, imported(_PLACES))
