"""A session's options, read from a ConfigProto.

TREATMENT says how each field of TensorFlow 1.15's proto is treated; a test compares it
with the proto.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from tfteach.engine.session.targets import is_registered, text_of
from tfteach.framework import errors

TOGGLE_ON, TOGGLE_OFF = 1, 2  # RewriterConfig.Toggle
EXECUTORS = ("", "DEFAULT", "SINGLE_THREADED_EXECUTOR")

HONOURED = "honoured"
# Fields that do not affect results.
HINT = "a hint about threads, memory, time or kernels, with no effect here"
LOCAL = "about sessions of servers, which read it; a local session ignores it, as TF's"
NO_CARDS = "about cards; sessions without one ignore it, as TF's do"
NO_PASS = "names passes of TF's graph optimizer that are not here; results are the same"
UNUSED = "nothing in TF 1.15 reads it"
REFUSED = "refused: NotImplementedError names it"

TREATMENT = {
    "device_count": HONOURED,
    "intra_op_parallelism_threads": HINT,
    "inter_op_parallelism_threads": HONOURED,
    "use_per_session_threads": HONOURED,
    "session_inter_op_thread_pool": HONOURED,
    "placement_period": UNUSED,
    "device_filters": LOCAL,
    "gpu_options.per_process_gpu_memory_fraction": HONOURED,
    "gpu_options.allow_growth": HONOURED,
    "gpu_options.allocator_type": HINT,
    "gpu_options.deferred_deletion_bytes": HINT,
    "gpu_options.visible_device_list": HONOURED,
    "gpu_options.polling_active_delay_usecs": HINT,
    "gpu_options.polling_inactive_delay_msecs": HINT,
    "gpu_options.force_gpu_compatible": HINT,
    "gpu_options.experimental.virtual_devices": HONOURED,
    "gpu_options.experimental.use_unified_memory": HINT,
    "gpu_options.experimental.num_dev_to_dev_copy_streams": HINT,
    "gpu_options.experimental.collective_ring_order": NO_CARDS,
    "gpu_options.experimental.timestamped_allocator": HINT,
    "gpu_options.experimental.kernel_tracker_max_interval": HINT,
    "gpu_options.experimental.kernel_tracker_max_bytes": HINT,
    "gpu_options.experimental.kernel_tracker_max_pending": HINT,
    "allow_soft_placement": HONOURED,
    "log_device_placement": HONOURED,
    "graph_options.enable_recv_scheduling": HINT,
    "graph_options.optimizer_options.do_common_subexpression_elimination": HONOURED,
    "graph_options.optimizer_options.do_constant_folding": HONOURED,
    "graph_options.optimizer_options.max_folded_constant_in_bytes": HINT,
    "graph_options.optimizer_options.do_function_inlining": NO_PASS,
    "graph_options.optimizer_options.opt_level": HONOURED,
    "graph_options.optimizer_options.global_jit_level": HINT,  # XLA: no effect on CPUs
    "graph_options.build_cost_model": REFUSED,
    "graph_options.build_cost_model_after": HINT,  # of a model that is refused
    "graph_options.infer_shapes": HINT,
    "graph_options.place_pruned_graph": HONOURED,
    "graph_options.enable_bfloat16_sendrecv": LOCAL,
    "graph_options.timeline_step": UNUSED,
    "graph_options.rewrite_options.layout_optimizer": NO_PASS,
    "graph_options.rewrite_options.constant_folding": HONOURED,
    "graph_options.rewrite_options.shape_optimization": NO_PASS,
    "graph_options.rewrite_options.remapping": NO_PASS,
    "graph_options.rewrite_options.arithmetic_optimization": HONOURED,
    "graph_options.rewrite_options.dependency_optimization": NO_PASS,
    "graph_options.rewrite_options.loop_optimization": NO_PASS,
    "graph_options.rewrite_options.function_optimization": NO_PASS,
    "graph_options.rewrite_options.debug_stripper": REFUSED,  # it removes tf.Assert
    "graph_options.rewrite_options.disable_model_pruning": NO_PASS,
    "graph_options.rewrite_options.scoped_allocator_optimization": NO_PASS,
    "graph_options.rewrite_options.pin_to_host_optimization": NO_PASS,
    "graph_options.rewrite_options.implementation_selector": NO_PASS,
    "graph_options.rewrite_options.auto_mixed_precision": NO_CARDS,
    "graph_options.rewrite_options.disable_meta_optimizer": HONOURED,
    "graph_options.rewrite_options.meta_optimizer_iterations": NO_PASS,
    "graph_options.rewrite_options.min_graph_nodes": HINT,
    "graph_options.rewrite_options.memory_optimization": NO_PASS,
    "graph_options.rewrite_options.memory_optimizer_target_node_name_scope": NO_PASS,
    "graph_options.rewrite_options.meta_optimizer_timeout_ms": HINT,
    "graph_options.rewrite_options.auto_parallel": NO_CARDS,
    "graph_options.rewrite_options.fail_on_optimizer_errors": NO_PASS,
    "graph_options.rewrite_options.scoped_allocator_opts": NO_PASS,
    "graph_options.rewrite_options.optimizers": NO_PASS,
    "graph_options.rewrite_options.custom_optimizers": NO_PASS,
    "graph_options.rewrite_options.inter_optimizer_verifier_config": NO_PASS,
    "graph_options.rewrite_options.post_optimization_verifier_config": NO_PASS,
    "operation_timeout_in_ms": HONOURED,
    "rpc_options": LOCAL,
    "cluster_def": LOCAL,
    "isolate_session_state": LOCAL,
    "experimental.collective_group_leader": LOCAL,
    "experimental.executor_type": HONOURED,  # the name is checked; one runs them all
    "experimental.recv_buf_max_chunk": LOCAL,
    "experimental.use_numa_affinity": HINT,
    "experimental.collective_deterministic_sequential_execution": LOCAL,
    "experimental.collective_nccl": LOCAL,
    "experimental.share_session_state_in_clusterspec_propagation": LOCAL,
    "experimental.disable_thread_spinning": HINT,
    "experimental.share_cluster_devices_in_session": LOCAL,
    "experimental.session_metadata": HONOURED,
    "experimental.optimize_for_static_graph": HONOURED,
}


class Options(NamedTuple):
    """The fields of ConfigProto that change what a session does."""

    allow_soft_placement: bool = False
    log_device_placement: bool = False
    place_pruned_graph: bool = False
    timeout_ms: int = 0
    fold_constants: bool = True
    merge_duplicates: bool = True
    is_on: bool = True  # optimization, as a whole
    executor_type: str = ""
    is_static: bool = False  # the graph does not grow after the first run
    metadata: tuple[str, int] | None = None  # the session's own name and version

    @classmethod
    def of(cls, config: Any) -> Options:
        """Read a ConfigProto (defaults for None); TREATMENT has every field.

        Raises:
          NotImplementedError: the proto requests a feature that does not exist here.
          InvalidArgumentError: the session's version is negative.
        """
        if config is None:
            return cls()
        graph_options = config.graph_options
        optimizer, rewriter = (
            graph_options.optimizer_options,
            graph_options.rewrite_options,
        )
        if graph_options.build_cost_model:
            raise NotImplementedError(
                "GraphOptions.build_cost_model: RunMetadata.cost_graph"
            )
        if rewriter.debug_stripper == TOGGLE_ON:
            raise NotImplementedError(
                "RewriterConfig.debug_stripper: runs without tf.Assert and tf.Print"
            )
        # L0 (-1) switches optimization off, except for passes that the flags request.
        is_on = optimizer.opt_level >= 0 and not rewriter.disable_meta_optimizer
        folds = is_on and rewriter.constant_folding != TOGGLE_OFF
        merges = is_on and rewriter.arithmetic_optimization != TOGGLE_OFF
        return cls(
            config.allow_soft_placement,
            config.log_device_placement,
            graph_options.place_pruned_graph,
            config.operation_timeout_in_ms,
            folds or optimizer.do_constant_folding,
            merges or optimizer.do_common_subexpression_elimination,
            is_on,
            config.experimental.executor_type,
            config.experimental.optimize_for_static_graph,
            _metadata(config.experimental),
        )

    @property
    def optimizes(self) -> bool:
        """Whether any pass runs."""
        return self.is_on or self.fold_constants or self.merge_duplicates

    def check_executor(self) -> None:
        """Reject an executor that does not exist, with TF's message.

        Raises:
          NotFoundError: the executor does not exist.
        """
        if self.executor_type not in EXECUTORS:
            raise errors.NotFoundError(
                None,
                None,
                "No executor factory registered for the given executor type: "
                f"{self.executor_type} Registered factories are "
                "{SINGLE_THREADED_EXECUTOR, , DEFAULT}.",
            )

    def check_growth(self) -> None:
        """Raise for a graph that has grown, if the session requires a static one.

        Raises:
          FailedPreconditionError: the graph has grown.
        """
        if self.is_static:
            raise errors.FailedPreconditionError(
                None,
                None,
                "Extending the graph is not supported when `optimize_for_static_graph` "
                "is true.",
            )

    def check_alone(self, others: Iterable[Options]) -> None:
        """Reject a name and version that another open session has.

        Raises:
          InvalidArgumentError: one of `others` has it.
        """
        if self.metadata and any(o.metadata == self.metadata for o in others):
            name, version = self.metadata
            raise errors.InvalidArgumentError(
                None,
                None,
                "A session with the same name and version has already been created: "
                f'name: "{name}"\nversion: {version}\n',
            )


def _metadata(experimental: Any) -> tuple[str, int] | None:
    if not experimental.HasField("session_metadata"):
        return None
    found = experimental.session_metadata
    if found.version < 0:
        raise errors.InvalidArgumentError(
            None, None, f"Session version shouldn't be negative: {found}"
        )
    return found.name, found.version


def check_config(target: Any, config: Any) -> None:
    """Raise TypeError, with TF's message, for an invalid target or ConfigProto."""
    if target is None:
        target = ""
    if not isinstance(target, str | bytes):
        raise TypeError(f"target must be a string, but got {type(target)}")
    name = text_of(target)
    if name not in ("", "local") and not is_registered(name):
        raise errors.NotFoundError(
            None,
            None,
            "No session factory registered for the given session options: {target: "
            f'"{name}" config: }} Registered factories are {{DIRECT_SESSION, '
            'GRPC_SESSION}. Use target "" for this process.',
        )
    if config is not None and not hasattr(config, "device_count"):
        raise TypeError(f"config must be a tf.ConfigProto, but got {type(config)}")
