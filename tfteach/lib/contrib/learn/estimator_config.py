"""The configuration of an older Estimator.

Source: contrib/learn/python/learn/estimators/estimator.py.
"""

from __future__ import annotations

import copy
import os
import tempfile
from collections.abc import Callable
from typing import Any

from tfteach.framework.logger import get_logger
from tfteach.framework.protos import ConfigProto
from tfteach.framework.type_aliases import PathLike, Proto
from tfteach.lib.contrib.learn.run_config import RunConfig
from tfteach.lib.estimator.input_fn import argument_names
from tfteach.lib.estimator.run_config import RunConfig as CoreRunConfig


def checked_config(
    config: CoreRunConfig | None, model_dir: PathLike | None
) -> CoreRunConfig:
    """A RunConfig with a directory.

    Raises:
      ValueError: the directories differ.
    """
    if config is None:
        get_logger().info("Using default config.")
        config = RunConfig()
    given = None if model_dir is None else os.fspath(model_dir)
    if given is not None and config.model_dir not in (None, given):
        raise ValueError(
            "model_dir are set both in constructor and RunConfig, but with different "
            f"values. In constructor: '{given}', in RunConfig: '{config.model_dir}' "
        )
    folder = given or config.model_dir
    if folder is None:
        folder = tempfile.mkdtemp()
        get_logger().warning("Using temporary folder as model directory: %s", folder)
    found: Any = copy.deepcopy(config)
    found._model_dir = folder
    checked: CoreRunConfig = found
    return checked


def session_config(config: CoreRunConfig) -> Proto:
    """The session's options: given, or with soft placement."""
    return config.session_config or ConfigProto(allow_soft_placement=True)


def check_params(model_fn: Callable[..., Any], params: Any) -> None:
    """Check that the function accepts parameters if there are any.

    Raises:
      ValueError: it does not.
    """
    has_params = "params" in argument_names(model_fn)
    if params is not None and not has_params:
        raise ValueError(
            f"Estimator's model_fn ({model_fn}) does not have a params argument, but "
            f"params ({params}) were passed to the Estimator's constructor."
        )
    if params is None and has_params:
        get_logger().warning(
            "Estimator's model_fn (%s) includes params argument, but params are not "
            "passed to Estimator.",
            model_fn,
        )
