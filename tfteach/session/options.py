"""What a ConfigProto asks of a session."""

from __future__ import annotations

from typing import Any, NamedTuple

from tfteach.framework import errors

TOGGLE_OFF = 2  # RewriterConfig.Toggle


class Options(NamedTuple):
    """The fields of ConfigProto that change what a session does."""

    allow_soft_placement: bool = False
    log_device_placement: bool = False
    place_pruned_graph: bool = False
    timeout_ms: int = 0
    fold_constants: bool = True
    merge_duplicates: bool = True
    is_on: bool = True  # optimization, as a whole

    @classmethod
    def of(cls, config: Any) -> Options:
        """Read a ConfigProto (defaults for None).

        The thread counts are hints that NumPy does not take; they have no effect.

        Raises:
          NotImplementedError: the proto asks for something that is not built.
        """
        if config is None:
            return cls()
        if config.HasField("rpc_options") or config.HasField("cluster_def"):
            raise NotImplementedError(
                "ConfigProto.cluster_def and rpc_options: sessions on other machines"
            )
        optimizer = config.graph_options.optimizer_options
        rewriter = config.graph_options.rewrite_options
        # L0 (-1) switches optimization off, except for what the flags ask for.
        is_on = optimizer.opt_level >= 0 and not rewriter.disable_meta_optimizer
        folds = is_on and rewriter.constant_folding != TOGGLE_OFF
        merges = is_on and rewriter.common_subgraph_elimination != TOGGLE_OFF
        return cls(
            config.allow_soft_placement,
            config.log_device_placement,
            config.graph_options.place_pruned_graph,
            config.operation_timeout_in_ms,
            folds or optimizer.do_constant_folding,
            merges or optimizer.do_common_subexpression_elimination,
            is_on,
        )

    @property
    def optimizes(self) -> bool:
        """Whether any pass runs."""
        return self.is_on or self.fold_constants or self.merge_duplicates


def check_config(target: Any, config: Any) -> None:
    """Refuse what is no target or no ConfigProto, with TF's words."""
    if target is None:
        target = ""
    if not isinstance(target, str | bytes):
        raise TypeError(f"target must be a string, but got {type(target)}")
    name = target.decode() if isinstance(target, bytes) else target
    if name.startswith("grpc"):
        raise NotImplementedError(f"tf.Session({name!r}): sessions on other machines")
    if name not in ("", "local"):
        raise errors.NotFoundError(
            None,
            None,
            "No session factory registered for the given session options: {target: "
            f'"{name}" config: }} Registered factories are {{DIRECT_SESSION}}. Use '
            'target "" for this process.',
        )
    if config is not None and not hasattr(config, "device_count"):
        raise TypeError(f"config must be a tf.ConfigProto, but got {type(config)}")
