"""What an Estimator accepts: its configuration, model function, hooks.

Source: tensorflow_estimator/python/estimator/estimator.py, model_fn.py.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Operation
from tfteach.lib.estimator.cluster_settings import TaskType, default_session_config
from tfteach.lib.estimator.input_fn import (
    argument_names,
)
from tfteach.lib.estimator.run_config import RunConfig
from tfteach.lib.files.warm_start import WarmStartSettings
from tfteach.lib.saved_model.loader import maybe_saved_model_directory
from tfteach.lib.saved_model.utils import variables_path
from tfteach.lib.training.device_setter import replica_device_setter
from tfteach.lib.training.hooks.checkpoints import CheckpointSaverListener
from tfteach.lib.training.hooks.session_run_hook import SessionRunHook

# `_abc_impl` is what Python stores in classes with abstract bases.
_MAY_OVERRIDE = {"_create_and_assert_global_step", "_abc_impl"}
_MODEL_ARGUMENTS = {"features", "labels", "mode", "params", "config", "self"}


def checked_config(config: Any, model_dir: Any) -> RunConfig:
    """A RunConfig with a directory."""
    if config is None:
        get_logger().info("Using default config.")
        config = RunConfig()
    if not isinstance(config, RunConfig):
        raise ValueError(
            f"config must be an instance of `RunConfig`, but provided {config}."
        )
    given = None if model_dir is None else os.fspath(model_dir)
    if given == "":
        raise ValueError("model_dir should be non-empty.")
    if given and config.model_dir and given != config.model_dir:
        raise ValueError(
            "`model_dir` are set both in constructor and `RunConfig`, but with "
            f"different values. In constructor: '{given}', in `RunConfig`: "
            f"'{config.model_dir}' "
        )
    if not given and not config.model_dir:
        given = tempfile.mkdtemp()
        get_logger().warning(f"Using temporary folder as model directory: {given}")
    session_config = config.session_config or default_session_config()
    return config.replace(
        model_dir=config.model_dir or given, session_config=session_config
    )


def check_overrides(kind: type, base: type) -> None:
    """Raise an error if a subclass overrides a method of Estimator."""
    own = {name for name in dir(base) if not name.startswith("__")}
    overridden = sorted(own & set(vars(kind)) - _MAY_OVERRIDE)
    if kind is not base and overridden:
        raise ValueError(
            "Subclasses of Estimator cannot override members of Estimator. "
            f"{kind} does override {overridden}"
        )


def check_trains_here(config: RunConfig) -> None:
    """Raise ValueError if this process's task in the cluster is not to train."""
    if config.task_type in (TaskType.EVALUATOR, TaskType.PS):
        raise ValueError(
            "Train has been called wrong configuration. Please use "
            "tf.estimator.train_and_evaluate which calls proper API according to given "
            f"configuration. Current configuration: {config}."
        )


def device_function(config: RunConfig) -> Callable[[Operation], str] | None:
    """The device function of the graphs; by default that of parameter servers."""
    if config.device_fn or not config.num_ps_replicas:
        return config.device_fn
    return replica_device_setter(
        ps_tasks=config.num_ps_replicas,
        worker_device=f"/job:{config.task_type}/task:{config.task_id}",
        cluster=config.cluster_spec,
    )


def check_model_fn(model_fn: Any, params: Any) -> None:
    arguments = set(argument_names(model_fn))
    if "features" not in arguments:
        raise ValueError(f"model_fn ({model_fn}) must include features argument.")
    if params is not None and "params" not in arguments:
        raise ValueError(
            f"model_fn ({model_fn}) does not include params argument, but params "
            f"({params}) is passed to Estimator."
        )
    if params is None and "params" in arguments:
        get_logger().warning(
            "Estimator's model_fn (%s) includes params argument, but params are not "
            "passed to Estimator.",
            model_fn,
        )
    unknown = sorted(arguments - _MODEL_ARGUMENTS)
    if unknown:
        raise ValueError(
            f"model_fn ({model_fn}) has following not expected args: {unknown}"
        )


def warm_start_settings(given: Any) -> Any:
    if given is None or isinstance(given, WarmStartSettings):
        return given
    if isinstance(given, str | bytes | os.PathLike):
        path = os.fsdecode(given)
        if maybe_saved_model_directory(path):
            get_logger().info("Warm-starting from a SavedModel")
            path = variables_path(path)
        return WarmStartSettings(ckpt_to_initialize_from=path)
    raise ValueError(
        "warm_start_from must be a string or a WarmStartSettings, instead got "
        f"{type(given)}"
    )


def checked_hooks(hooks: Sequence[SessionRunHook] | None) -> list[SessionRunHook]:
    for hook in hooks or ():
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"Hooks must be a SessionRunHook, given: {hook}")
    return list(hooks or ())


def checked_listeners(
    listeners: Sequence[CheckpointSaverListener] | None,
) -> list[CheckpointSaverListener]:
    for listener in listeners or ():
        if not isinstance(listener, CheckpointSaverListener):
            raise TypeError(
                "saving_listeners must be a list of CheckpointSaverListener, given: "
                f"{listener}"
            )
    return list(listeners or ())
