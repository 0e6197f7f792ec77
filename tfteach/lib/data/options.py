"""`tf.data.Options`.

Source: python/data/util/options.py, data/experimental/ops/{optimization_options,
threading_options,stats_options,distribute_options}.py.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

from tfteach.framework.export import export


class OptionsBase:
    """Named options of fixed types, None unless set."""

    fields: ClassVar[dict[str, tuple[type, ...]]] = {}

    def __init__(self) -> None:
        object.__setattr__(self, "_values", {})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in type(self).fields:
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {name!r}"
            )
        return self._values.get(name)

    def __setattr__(self, name: str, value: Any) -> None:
        kinds = type(self).fields.get(name)
        if kinds is None:
            raise AttributeError(
                f"Cannot set the property {name} on {type(self).__name__}."
            )
        if value is not None and not isinstance(value, kinds):
            raise TypeError(
                f'Property "{name}" must be of type {kinds[0]}, got: {value!r} (type: '
                f"{type(value)})"
            )
        self._values[name] = value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return bool(self._values == other._values)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = object.__hash__

    def _merged(self, other: Self) -> Self:
        made = type(self)()
        for values in (self._values, other._values):
            for name, value in values.items():
                mine = made._values.get(name)
                if mine is None:
                    made._values[name] = value
                elif isinstance(value, OptionsBase):
                    made._values[name] = mine._merged(value)
                elif value is not None and value != mine:
                    raise ValueError(
                        f"Cannot merge incompatible values ({mine} and {value}) of "
                        f"option: {name}"
                    )
        return made


@export("data.experimental.MapVectorizationOptions")
class MapVectorizationOptions(OptionsBase):
    """Options of TensorFlow's rewrite of `map` before `batch`, which has no effect."""

    fields: ClassVar[dict[str, tuple[type, ...]]] = {
        "enabled": (bool,), "use_choose_fastest": (bool,),
    }  # fmt: skip

    def __init__(self, enabled: bool | None = None) -> None:
        super().__init__()
        self.enabled = enabled


_REWRITES = (
    "filter_fusion", "filter_with_random_uniform_fusion", "hoist_random_uniform",
    "map_and_batch_fusion", "map_and_filter_fusion", "map_fusion",
    "map_parallelization", "noop_elimination", "parallel_batch",
    "shuffle_and_repeat_fusion",
)  # fmt: skip
_CHANGES_NUMBERS = "filter_with_random_uniform_fusion", "hoist_random_uniform"
_DEFAULTS = "map_and_batch_fusion", "noop_elimination", "shuffle_and_repeat_fusion"


@export("data.experimental.OptimizationOptions")
class OptimizationOptions(OptionsBase):
    """Rewrites of a pipeline; only `shuffle_and_repeat_fusion` changes elements."""

    fields: ClassVar[dict[str, tuple[type, ...]]] = {
        "apply_default_optimizations": (bool,), "autotune": (bool,),
        "autotune_algorithm": (int,), "autotune_buffers": (bool,),
        "autotune_cpu_budget": (int,), "map_vectorization": (MapVectorizationOptions,),
        **dict.fromkeys(_REWRITES, (bool,)),
    }  # fmt: skip

    def names(self) -> list[str]:
        """The rewrites to apply, sorted."""
        found = {name for name in _REWRITES if getattr(self, name)}
        if self.apply_default_optimizations is not False:
            found |= {name for name in _DEFAULTS if getattr(self, name) is not False}
        if self.map_vectorization is not None and self.map_vectorization.enabled:
            found.add("map_vectorization")
        if self.autotune_buffers:
            found.add("inject_prefetch")
        return sorted(found)


@export("data.experimental.ThreadingOptions")
class ThreadingOptions(OptionsBase):
    """Threads of a pipeline.

    `private_threadpool_size` is the most threads that each transformation uses;
    `max_intra_op_parallelism` has no effect: the kernels of functions use one.
    """

    fields: ClassVar[dict[str, tuple[type, ...]]] = {
        "max_intra_op_parallelism": (int,), "private_threadpool_size": (int,),
    }  # fmt: skip


@export("data.experimental.StatsOptions")
class StatsOptions(OptionsBase):
    """Statistics of a pipeline, which are refused when an iterator is made."""

    fields: ClassVar[dict[str, tuple[type, ...]]] = {
        "aggregator": (object,), "prefix": (str,), "counter_prefix": (str,),
        "latency_all_edges": (bool,),
    }  # fmt: skip


@export("data.experimental.DistributeOptions")
class DistributeOptions(OptionsBase):
    """How a pipeline is split over workers."""

    fields: ClassVar[dict[str, tuple[type, ...]]] = {
        "auto_shard": (bool,), "num_devices": (int,),
    }  # fmt: skip


@export("data.Options")
class Options(OptionsBase):
    """Options of a dataset and of those it reads; see `Dataset.with_options`.

    Example:
      >>> options = tf.data.Options()
      >>> options.experimental_optimization.shuffle_and_repeat_fusion = False
      >>> dataset = dataset.with_options(options)

    Source: python/data/ops/dataset_ops.py, Options.
    """

    fields: ClassVar[dict[str, tuple[type, ...]]] = {
        "experimental_deterministic": (bool,),
        "experimental_distribute": (DistributeOptions,),
        "experimental_optimization": (OptimizationOptions,),
        "experimental_slack": (bool,),
        "experimental_stats": (StatsOptions,),
        "experimental_threading": (ThreadingOptions,),
        "experimental_stateful_whitelist": (list,),
    }

    def __init__(self) -> None:
        super().__init__()
        self._values.update(
            experimental_distribute=DistributeOptions(),
            experimental_optimization=OptimizationOptions(),
            experimental_stats=StatsOptions(),
            experimental_threading=ThreadingOptions(),
        )

    def check_supported(self) -> None:
        """Raise NotImplementedError for an option that would be ignored."""
        for name in self.experimental_stats._values:
            if getattr(self.experimental_stats, name):
                raise NotImplementedError(
                    f"Options.experimental_stats.{name}: statistics of pipelines are "
                    "not collected; see tfteach.explain.watch_pipelines."
                )
        for name in _CHANGES_NUMBERS:
            if getattr(self.experimental_optimization, name):
                raise NotImplementedError(
                    f"Options.experimental_optimization.{name}, which would change the "
                    "random numbers of functions, is not supported."
                )

    def _static_optimizations(self) -> list[str]:
        names: list[str] = self.experimental_optimization.names()
        if self.experimental_deterministic is False:
            names.append("make_sloppy")
        if self.experimental_slack:
            names.append("slack")
        return names

    def _static_optimization_configs(self) -> tuple[str, ...]:
        vectorization = self.experimental_optimization.map_vectorization
        chooses = vectorization is not None and vectorization.use_choose_fastest
        found = [f"map_vectorization:use_choose_fastest:{str(bool(chooses)).lower()}"]
        if self.experimental_slack:
            devices = self.experimental_distribute.num_devices
            found.append(f"slack:slack_period:{1 if devices is None else devices}")
        return tuple(found)

    def merge(self, options: Options) -> Options:
        """These options and those that are set in others.

        Raises:
          TypeError: `options` are no `tf.data.Options`.
          ValueError: both set an option to different values.
        """
        if not isinstance(options, Options):
            raise TypeError(
                f"Incompatible options type: {type(options)} vs {type(self)}"
            )
        return self._merged(options)
