"""`tf.contrib.learn.learn_runner.run`: makes an Experiment and runs it.

Source: contrib/learn/python/learn/learn_runner.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.logger import get_logger
from tfteach.framework.type_aliases import PathLike
from tfteach.lib.contrib.learn.experiment import Experiment
from tfteach.lib.contrib.learn.run_config import RunConfig
from tfteach.lib.contrib.training.hparam import HParams

_DEFAULT_SCHEDULE = "train_and_evaluate"


@export("contrib.learn.learn_runner.run")
def run(
    experiment_fn: Callable[..., Experiment],
    output_dir: PathLike | None = None,
    schedule: str | None = None,
    run_config: RunConfig | None = None,
    hparams: HParams | None = None,
) -> object:
    """Make an Experiment in this process, and call one of its methods.

    Args:
      experiment_fn: a function that returns the Experiment: of `output_dir`, or of
        `run_config` and `hparams`.
      output_dir: the directory of checkpoints and event files.
      schedule: the method's name; "train_and_evaluate" if None.
      run_config: a `tf.contrib.learn.RunConfig` with a `model_dir`, in place of
        `output_dir`.
      hparams: hyperparameters, passed on with `run_config`.

    Returns:
      What the method returns.

    Raises:
      ValueError: the arguments contradict each other, or there is no such method.
      TypeError: an argument, or what `experiment_fn` returned, is of a wrong type.
      RuntimeError: the Estimator was not given the `run_config`.

    Example:
      >>> def experiment_fn(run_config, hparams):
      ...     estimator = tf.estimator.LinearRegressor(columns, config=run_config)
      ...     return tf.contrib.learn.Experiment(estimator, train_fn, test_fn)
      >>> config = tf.contrib.learn.RunConfig(model_dir="model")
      >>> tf.contrib.learn.learn_runner.run(experiment_fn, run_config=config)

    Source: contrib/learn/python/learn/learn_runner.py.
    """
    if output_dir is not None and run_config is not None:
        raise ValueError("Cannot provide both `output_dir` and `run_config`")
    if output_dir is None and run_config is None:
        raise ValueError("Must set value for `output_dir` or `run_config`")
    if not callable(experiment_fn):
        raise TypeError(f'Experiment builder "{experiment_fn}" is not callable.')
    if run_config is None:
        experiment = _made_in(experiment_fn, output_dir, hparams)
    else:
        experiment = _made_with(experiment_fn, run_config, hparams)
    return _task(experiment, schedule or _DEFAULT_SCHEDULE)()


def _checked(found: Any) -> Experiment:
    if not isinstance(found, Experiment):
        raise TypeError(
            "Experiment builder did not return an Experiment instance, got "
            f"{type(found)} instead."
        )
    return found


def _made_in(experiment_fn: Any, output_dir: Any, hparams: Any) -> Experiment:
    if not output_dir:
        raise ValueError("Must specify an output directory")
    if hparams is not None:
        raise ValueError(
            "Must set `hparams` as None for `experiment_fn` with `output_dir`."
        )
    return _checked(experiment_fn(output_dir=output_dir))


def _made_with(experiment_fn: Any, config: Any, hparams: Any) -> Experiment:
    if not isinstance(config, RunConfig):
        raise ValueError("`run_config` must be `tf.contrib.learn.RunConfig` instance")
    if not config.model_dir:
        raise ValueError("Must specify a model directory `model_dir` in `run_config`.")
    if hparams is not None and not isinstance(hparams, HParams):
        raise ValueError("`hparams` must be `HParams` instance")
    before = config.uid()
    experiment = _checked(experiment_fn(config, hparams))
    estimator: Any = experiment.estimator
    found = estimator.config
    if not isinstance(found, RunConfig) or found.uid() != before:
        raise RuntimeError(
            "Pass `run_config` argument of the `experiment_fn` to the Estimator in "
            "Experiment. It is likely a different `RunConfig` is passed to `Estimator` "
            "or the `config` constructor argument in `Estimator` is not set."
        )
    return experiment


def _task(experiment: Experiment, schedule: str) -> Callable[[], Any]:
    task: Any = getattr(experiment, schedule, None)
    if callable(task):
        found: Callable[[], Any] = task
        return found
    exists = hasattr(experiment, schedule)
    what = "non-callable member" if exists else "non-existent task"
    message = f"Schedule references {what} {schedule}"
    allowed = [
        name
        for name in dir(experiment)
        if not name.startswith("_") and callable(getattr(experiment, name))
    ]
    get_logger().error(message)
    get_logger().error("Allowed values for this experiment are: %s", allowed)
    raise TypeError(message) if exists else ValueError(message)
