"""`tf.estimator.TrainSpec`, `tf.estimator.EvalSpec`: what `train_and_evaluate` does.

Source: tensorflow_estimator/python/estimator/training.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from tfteach.framework.export import export
from tfteach.lib.estimator.exporters import Exporter
from tfteach.lib.training.hooks.session_run_hook import SessionRunHook


def _check_input_fn(input_fn: Any) -> None:
    if not callable(input_fn):
        raise TypeError(f"`input_fn` must be callable, given: {input_fn}")


def _checked_hooks(hooks: Iterable[Any] | None) -> tuple[SessionRunHook, ...]:
    found = tuple(hooks or ())
    for hook in found:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(
                f"All hooks must be `SessionRunHook` instances, given: {hook}"
            )
    return found


def _checked_exporters(exporters: Any) -> tuple[Exporter, ...]:
    if exporters is None:
        return ()
    found = (exporters,) if isinstance(exporters, Exporter) else exporters
    try:
        found = tuple(found)
    except TypeError:
        found = (None,)
    if not all(isinstance(exporter, Exporter) for exporter in found):
        raise TypeError(
            "`exporters` must be an Exporter, an iterable of Exporter, or `None`, "
            f"found {exporters}."
        )
    names = [exporter.name for exporter in found]
    for name in names:
        if not name:
            raise ValueError(
                "An Exporter cannot have a name that is `None` or empty. All exporter "
                f"names: {names}"
            )
        if not isinstance(name, str):
            raise ValueError(
                f"An Exporter must have a string name. Given: {type(name)}"
            )
    if len(set(names)) < len(names):
        raise ValueError(
            "`exporters` must have unique names. Such a name cannot be `None`. All "
            f"exporter names: {names}"
        )
    return found


class _TrainFields(NamedTuple):
    input_fn: Any
    max_steps: Any
    hooks: Any


@export("estimator.TrainSpec")
class TrainSpec(_TrainFields):
    """The training of `tf.estimator.train_and_evaluate`.

    Args:
      input_fn: as in `tf.estimator.Estimator.train`.
      max_steps: the global step at which to end; None until the input's end.
      hooks: SessionRunHooks.

    Raises:
      TypeError, ValueError: an argument is of a wrong type, or not positive.

    Source: tensorflow_estimator/python/estimator/training.py.
    """

    __slots__ = ()

    def __new__(
        cls,
        input_fn: Callable[..., Any],
        max_steps: int | None = None,
        hooks: Iterable[SessionRunHook] | None = None,
    ) -> TrainSpec:
        _check_input_fn(input_fn)
        if max_steps is not None and max_steps <= 0:
            raise ValueError(f"Must specify max_steps > 0, given: {max_steps}")
        return super().__new__(cls, input_fn, max_steps, _checked_hooks(hooks))


class _EvalFields(NamedTuple):
    input_fn: Any
    steps: Any
    name: Any
    hooks: Any
    exporters: Any
    start_delay_secs: Any
    throttle_secs: Any


@export("estimator.EvalSpec")
class EvalSpec(_EvalFields):
    """The evaluations of `tf.estimator.train_and_evaluate`.

    Args:
      input_fn, steps, name, hooks: as in `tf.estimator.Estimator.evaluate`.
      exporters: an Exporter, several, or None.
      start_delay_secs: the seconds that the evaluator of a cluster waits first.
      throttle_secs: the seconds from one evaluation to the next, at least.

    Raises:
      TypeError, ValueError: an argument is of a wrong type, or not positive.

    Source: tensorflow_estimator/python/estimator/training.py.
    """

    __slots__ = ()

    def __new__(
        cls,
        input_fn: Callable[..., Any],
        steps: int | None = 100,
        name: str | None = None,
        hooks: Iterable[SessionRunHook] | None = None,
        exporters: Exporter | Iterable[Exporter] | None = None,
        start_delay_secs: float = 120,
        throttle_secs: float = 600,
    ) -> EvalSpec:
        _check_input_fn(input_fn)
        if steps is not None and steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"`name` must be string, given: {name}")
        checked = _checked_hooks(hooks), _checked_exporters(exporters)
        if start_delay_secs < 0:
            raise ValueError(
                f"Must specify start_delay_secs >= 0, given: {start_delay_secs}"
            )
        if throttle_secs < 0:
            raise ValueError(f"Must specify throttle_secs >= 0, given: {throttle_secs}")
        return super().__new__(
            cls, input_fn, steps, name, *checked, start_delay_secs, throttle_secs
        )
