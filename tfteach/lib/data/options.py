"""`tf.data.Options`.

Source: python/data/util/options.py, data/experimental/ops/{optimization_options,
threading_options,stats_options,distribute_options}.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from tfteach.framework.export import export
from tfteach.lib.data.stats_aggregator import StatsAggregator


def create_option(
    name: str,
    ty: type | tuple[type, ...],
    docstring: str,
    default_factory: Callable[[], Any] = lambda: None,
) -> Any:
    """An option of a class of options.

    Args:
      name: the attribute's name.
      ty: the type of values, or several.
      docstring: describes the option.
      default_factory: makes the default value, for each object.

    Raises:
      TypeError: while it is set: the value is of another type.
    """

    def get(options: OptionsBase) -> Any:
        values = options._values
        if name not in values:
            values[name] = default_factory()
        return values[name]

    def put(options: OptionsBase, value: Any) -> None:
        if not isinstance(value, ty):
            raise TypeError(
                f'Property "{name}" must be of type {ty}, got: {value!r} (type: '
                f"{type(value)})"
            )
        options._values[name] = value

    return property(get, put, None, docstring)


class OptionsBase:
    """Named options of fixed types; subclasses declare them by `create_option`."""

    _values: dict[str, Any]

    def __init__(self) -> None:
        object.__setattr__(self, "_values", {})

    def __setattr__(self, name: str, value: Any) -> None:
        if not hasattr(type(self), name):
            raise AttributeError(
                f"Cannot set the property {name} on {type(self).__name__}."
            )
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        names = self._values.keys() | other._values.keys()
        return all(getattr(self, name) == getattr(other, name) for name in names)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]  # it is mutable

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


def merge_options(*options_list: Any) -> Any:
    """The options that are set in any of several objects of the same class.

    Raises:
      ValueError: there is none, or two of them set an option to different values.
      TypeError: they are of different classes, or no options.
    """
    if not options_list:
        raise ValueError("At least one options should be provided")
    found = options_list[0]
    if not isinstance(found, OptionsBase):
        raise TypeError("The inputs should inherit from `OptionsBase`")
    for options in options_list:
        if not isinstance(options, type(found)):
            raise TypeError(
                f"Incompatible options type: {type(options)} vs {type(found)}"
            )
    made = type(found)()
    for options in options_list:
        made = made._merged(options)
    return made


@export("data.experimental.MapVectorizationOptions")
class MapVectorizationOptions(OptionsBase):
    """Options of TensorFlow's rewrite of `map` before `batch`, which has no effect."""

    enabled = create_option(
        "enabled", bool, "Whether to apply the rewrite; False if None."
    )
    use_choose_fastest = create_option(
        "use_choose_fastest",
        bool,
        "Whether to measure both pipelines and use the faster; False if None.",
    )


_CHANGES_NUMBERS = "filter_with_random_uniform_fusion", "hoist_random_uniform"


def _rewrite(name: str, docstring: str) -> Any:
    return create_option(name, bool, f"{docstring}; False if None.")


def _default_rewrite(name: str, docstring: str) -> Any:
    return create_option(name, bool, f"{docstring}; True if None.")


@export("data.experimental.OptimizationOptions")
class OptimizationOptions(OptionsBase):
    """Rewrites of a pipeline; only `shuffle_and_repeat_fusion` changes elements."""

    apply_default_optimizations = create_option(
        "apply_default_optimizations",
        bool,
        "Whether to apply the rewrites that are True by default; True if None.",
    )
    autotune = create_option(
        "autotune", bool, "Whether to adapt AUTOTUNE's numbers; True if None."
    )
    autotune_algorithm = create_option(
        "autotune_algorithm", int, "The number of the algorithm; 0 if None."
    )
    autotune_buffers = create_option(
        "autotune_buffers", bool, "Whether to add a `prefetch`; False if None."
    )
    autotune_cpu_budget = create_option(
        "autotune_cpu_budget", int, "The number of cores to use; 0 (None) for all."
    )
    filter_fusion = _rewrite("filter_fusion", "Fuse consecutive filters")
    filter_with_random_uniform_fusion = _rewrite(
        "filter_with_random_uniform_fusion",
        "Fuse a filter by random numbers into a sampling, which is not supported",
    )
    hoist_random_uniform = _rewrite(
        "hoist_random_uniform",
        "Move random numbers out of a function, which is not supported",
    )
    map_and_batch_fusion = _default_rewrite(
        "map_and_batch_fusion", "Fuse `map` and `batch`"
    )
    map_and_filter_fusion = _rewrite("map_and_filter_fusion", "Fuse `map` and `filter`")
    map_fusion = _rewrite("map_fusion", "Fuse consecutive maps")
    map_parallelization = _rewrite(
        "map_parallelization", "Call functions without state from several threads"
    )
    map_vectorization = create_option(
        "map_vectorization",
        MapVectorizationOptions,
        "The options of the vectorization of `map` before `batch`.",
        MapVectorizationOptions,
    )
    noop_elimination = _default_rewrite(
        "noop_elimination", "Omit transformations without effect"
    )
    parallel_batch = _rewrite("parallel_batch", "Copy a batch's elements in parallel")
    shuffle_and_repeat_fusion = _default_rewrite(
        "shuffle_and_repeat_fusion", "Fuse `shuffle` and `repeat`"
    )

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


_DEFAULTS = "map_and_batch_fusion", "noop_elimination", "shuffle_and_repeat_fusion"
_REWRITES = (
    "filter_fusion", "filter_with_random_uniform_fusion", "hoist_random_uniform",
    "map_and_filter_fusion", "map_fusion", "map_parallelization", "parallel_batch",
    *_DEFAULTS,
)  # fmt: skip


@export("data.experimental.ThreadingOptions")
class ThreadingOptions(OptionsBase):
    """Threads of a pipeline."""

    max_intra_op_parallelism = create_option(
        "max_intra_op_parallelism",
        int,
        "The most threads of a kernel, without effect: kernels of functions use one.",
    )
    private_threadpool_size = create_option(
        "private_threadpool_size", int, "The most threads of each transformation."
    )


@export("data.experimental.StatsOptions")
class StatsOptions(OptionsBase):
    """Statistics of a pipeline: those of `latency_stats`, `bytes_produced_stats`."""

    aggregator = create_option(
        "aggregator", StatsAggregator, "Collects the statistics."
    )
    prefix = create_option("prefix", str, "Begins their names.", lambda: "")
    counter_prefix = create_option(
        "counter_prefix",
        str,
        "Begins the names of TensorFlow's counters, of which there are none.",
        lambda: "",
    )
    latency_all_edges = create_option(
        "latency_all_edges",
        bool,
        "Whether to record the time of each transformation; True is refused.",
    )


@export("data.experimental.DistributeOptions")
class DistributeOptions(OptionsBase):
    """How a pipeline is split over workers."""

    auto_shard = create_option(
        "auto_shard", bool, "Whether workers read parts of the input.", lambda: True
    )
    num_devices = create_option(
        "num_devices", int, "The number of devices that elements are copied to."
    )
    _make_stateless = create_option(
        "_make_stateless", bool, "Whether to omit state of the pipeline."
    )


@export("data.Options")
class Options(OptionsBase):
    """Options of a dataset and of those it reads; see `Dataset.with_options`.

    Example:
      >>> options = tf.data.Options()
      >>> options.experimental_optimization.shuffle_and_repeat_fusion = False
      >>> dataset = dataset.with_options(options)

    Source: python/data/ops/dataset_ops.py, Options.
    """

    experimental_deterministic = create_option(
        "experimental_deterministic",
        bool,
        "Whether parallel transformations keep the order; True if None.",
    )
    experimental_distribute = create_option(
        "experimental_distribute",
        DistributeOptions,
        "How the pipeline is split over workers.",
        DistributeOptions,
    )
    experimental_optimization = create_option(
        "experimental_optimization",
        OptimizationOptions,
        "The rewrites of the pipeline.",
        OptimizationOptions,
    )
    experimental_slack = create_option(
        "experimental_slack",
        bool,
        "Whether the last `prefetch` pauses to leave the processor to the consumer: "
        "checked as in TensorFlow, but without effect, as threads do not pause.",
    )
    experimental_stats = create_option(
        "experimental_stats", StatsOptions, "Statistics of the pipeline.", StatsOptions
    )
    experimental_threading = create_option(
        "experimental_threading",
        ThreadingOptions,
        "Threads of the pipeline.",
        ThreadingOptions,
    )
    experimental_stateful_whitelist = create_option(
        "experimental_stateful_whitelist",
        list,
        "Types of ops to copy in spite of their state when the pipeline is split over "
        "workers; there is one process here, so that it has no effect.",
    )

    def check_supported(self) -> None:
        """Raise NotImplementedError for an option that would be ignored."""
        if self.experimental_stats.latency_all_edges:
            raise NotImplementedError(
                "Options.experimental_stats.latency_all_edges: apply "
                "tf.data.experimental.latency_stats where the time of elements is "
                "needed; see tfteach.explain.watch_pipelines."
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
        merged: Options = merge_options(self, options)
        return merged
