"""Explanations of what a graph, a run or a session does, as plain data.

Every function returns an object that can be printed, tested, or passed to a view of
`tfteach.jupyter`; nothing here depends on Jupyter.
"""

# A package for each subject.  Read graphs/graph_rows.py (the ops of a graph as rows)
# and graphs/scope_tree.py (its scopes), then one module for each question, as
# docs/explain.md lists them.

from typing import TYPE_CHECKING

from tfteach.framework.lazy_names import imported, lazy_getattr

if TYPE_CHECKING:
    from tfteach.explain.building.graph_log import GraphLog as GraphLog
    from tfteach.explain.building.graph_log import watch_graphs as watch_graphs
    from tfteach.explain.building.growth import Growth as Growth
    from tfteach.explain.building.growth import watch_growth as watch_growth
    from tfteach.explain.clusters.cluster_step import messages_of as messages_of
    from tfteach.explain.clusters.cluster_step import trace_step as trace_step
    from tfteach.explain.clusters.clusters import explain_cluster as explain_cluster
    from tfteach.explain.clusters.task_reasons import explain_task as explain_task
    from tfteach.explain.devices.card_convolutions import (
        explain_card_convolutions as explain_card_convolutions,
    )
    from tfteach.explain.devices.cuda_graphs import (
        explain_cuda_graphs as explain_cuda_graphs,
    )
    from tfteach.explain.devices.partitions import partitions as partitions
    from tfteach.explain.devices.placement import placement as placement
    from tfteach.explain.devices.status import status as status
    from tfteach.explain.eager.eager_growth import watch_eager as watch_eager
    from tfteach.explain.eager.eager_recording import EagerRecording as EagerRecording
    from tfteach.explain.eager.eager_recording import record_eager as record_eager
    from tfteach.explain.files.checkpoints import (
        explain_checkpoint as explain_checkpoint,
    )
    from tfteach.explain.files.model_files import read_model as read_model
    from tfteach.explain.functions.autograph_code import (
        converted_code as converted_code,
    )
    from tfteach.explain.functions.function_calls import (
        explain_function as explain_function,
    )
    from tfteach.explain.functions.function_calls import (
        watch_functions as watch_functions,
    )
    from tfteach.explain.graphs.collections import (
        explain_collections as explain_collections,
    )
    from tfteach.explain.graphs.difference import difference as difference
    from tfteach.explain.graphs.function_bodies import (
        with_function_bodies as with_function_bodies,
    )
    from tfteach.explain.graphs.names import explain_name as explain_name
    from tfteach.explain.graphs.sharing import explain_sharing as explain_sharing
    from tfteach.explain.pipelines.dataset_elements import elements_of as elements_of
    from tfteach.explain.pipelines.pipeline_rates import PipelineRun as PipelineRun
    from tfteach.explain.pipelines.pipeline_rates import (
        watch_pipelines as watch_pipelines,
    )
    from tfteach.explain.pipelines.pipeline_stages import Pipeline as Pipeline
    from tfteach.explain.pipelines.pipeline_state import pipelines_now as pipelines_now
    from tfteach.explain.pipelines.pipeline_verdict import judge_river as judge_river
    from tfteach.explain.pipelines.pipelines import (
        explain_pipelines as explain_pipelines,
    )
    from tfteach.explain.pipelines.queue_waits import queue_states as queue_states
    from tfteach.explain.pipelines.queue_waits import waits_for as waits_for
    from tfteach.explain.profiling.critical_path import (
        critical_path_of as critical_path_of,
    )
    from tfteach.explain.profiling.critical_path import (
        explain_critical_path as explain_critical_path,
    )
    from tfteach.explain.profiling.memory import MemoryWatch as MemoryWatch
    from tfteach.explain.profiling.memory import memory_of as memory_of
    from tfteach.explain.profiling.memory import watch_memory as watch_memory
    from tfteach.explain.profiling.timing import timed as timed
    from tfteach.explain.profiling.timing import times_of as times_of
    from tfteach.explain.runs.folding import explain_folding as explain_folding
    from tfteach.explain.runs.folding import unfolded as unfolded
    from tfteach.explain.runs.optimizing import explain_optimizing as explain_optimizing
    from tfteach.explain.runs.pruning import RunNeeds as RunNeeds
    from tfteach.explain.runs.pruning import explain_run as explain_run
    from tfteach.explain.runs.row_updates import watch_rows as watch_rows
    from tfteach.explain.runs.runs import watch_runs as watch_runs
    from tfteach.explain.runs.schedule import explain_schedule as explain_schedule
    from tfteach.explain.runs.session_options import session_options as session_options
    from tfteach.explain.runs.sessions import SessionLog as SessionLog
    from tfteach.explain.runs.sessions import state_of as state_of
    from tfteach.explain.steps.stepping import record as record

# Imported when first used.
_LATER = {
    "EagerRecording": "eager.eager_recording",
    "GraphLog": "building.graph_log",
    "Growth": "building.growth",
    "MemoryWatch": "profiling.memory",
    "Pipeline": "pipelines.pipeline_stages",
    "PipelineRun": "pipelines.pipeline_rates",
    "RunNeeds": "runs.pruning",
    "SessionLog": "runs.sessions",
    "converted_code": "functions.autograph_code",
    "critical_path_of": "profiling.critical_path",
    "difference": "graphs.difference",
    "elements_of": "pipelines.dataset_elements",
    "explain_card_convolutions": "devices.card_convolutions",
    "explain_checkpoint": "files.checkpoints",
    "explain_cluster": "clusters.clusters",
    "explain_collections": "graphs.collections",
    "explain_critical_path": "profiling.critical_path",
    "explain_cuda_graphs": "devices.cuda_graphs",
    "explain_folding": "runs.folding",
    "explain_function": "functions.function_calls",
    "explain_name": "graphs.names",
    "explain_optimizing": "runs.optimizing",
    "explain_pipelines": "pipelines.pipelines",
    "explain_run": "runs.pruning",
    "explain_schedule": "runs.schedule",
    "explain_sharing": "graphs.sharing",
    "explain_task": "clusters.task_reasons",
    "judge_river": "pipelines.pipeline_verdict",
    "memory_of": "profiling.memory",
    "messages_of": "clusters.cluster_step",
    "partitions": "devices.partitions",
    "pipelines_now": "pipelines.pipeline_state",
    "placement": "devices.placement",
    "queue_states": "pipelines.queue_waits",
    "read_model": "files.model_files",
    "record": "steps.stepping",
    "record_eager": "eager.eager_recording",
    "session_options": "runs.session_options",
    "state_of": "runs.sessions",
    "status": "devices.status",
    "timed": "profiling.timing",
    "times_of": "profiling.timing",
    "trace_step": "clusters.cluster_step",
    "unfolded": "runs.folding",
    "waits_for": "pipelines.queue_waits",
    "watch_eager": "eager.eager_growth",
    "watch_functions": "functions.function_calls",
    "watch_graphs": "building.graph_log",
    "watch_growth": "building.growth",
    "watch_memory": "profiling.memory",
    "watch_pipelines": "pipelines.pipeline_rates",
    "watch_rows": "runs.row_updates",
    "watch_runs": "runs.runs",
    "with_function_bodies": "graphs.function_bodies",
}

__all__ = [*_LATER]


_PLACES = {name: (f"tfteach.explain.{module}", name) for name, module in _LATER.items()}
__getattr__ = lazy_getattr(__name__, imported(_PLACES))
