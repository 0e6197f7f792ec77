"""The inner modules of `tf.data`, which its programs and tests import.

Source: python/data/{ops,util,experimental}/*.py, contrib/data/python/ops/*.py (names).
"""

from __future__ import annotations

# Path below `tensorflow.python.data` -> public packages, then modules of lib/data,
# which begin with "/".
_ROWS = """
ops.dataset_ops: data data.experimental /dataset /subclasses /element_specs /functions
ops.iterator_ops: data data.experimental /iterator
ops.multi_device_iterator_ops: data.experimental
ops.optional_ops: data.experimental /optional
ops.readers: data /readers
util.convert: /convert
util.nest: /nest
util.options: /options
util.random_seed: /seeds
util.sparse: /sparse
util.structure: /structures /element_specs
util.traverse: /traverse
"""
_EXPERIMENTAL = (
    "batching cardinality counter distribute distribute_options enumerate_ops "
    "error_ops get_single_element grouping interleave_ops iterator_ops matching_files "
    "optimization optimization_options parsing_ops prefetching_ops random_ops readers "
    "resampling scan_ops shuffle_ops sleep stats_aggregator stats_ops stats_options "
    "take_while_ops threading_options threadpool unique writers"
)
# Those with names that are not public -> our module of these.
_MORE = {
    "distribute": "distribute",
    "matching_files": "matching_files",
    "optimization": "optimization",
    "readers": "tf_records",
    "sleep": "sleep",
    "stats_ops": "statistics",
    "threadpool": "threadpool",
}
_CONTRIB = (
    "batching counter enumerate_ops error_ops get_single_element grouping "
    "interleave_ops iterator_ops optional_ops prefetching_ops random_ops readers "
    "resampling scan_ops shuffle_ops sliding threadpool unique writers"
)
_MODULES_OF_CONTRIB = (
    "contrib.data", "data.experimental", "tfteach.lib.data.subclasses"
)  # fmt: skip


def rows() -> dict[str, tuple[str, ...]]:
    """Inner path -> public packages and our modules, in the order of lookup."""
    found: dict[str, tuple[str, ...]] = {"contrib.data.python": ("contrib.data",)}
    for line in _ROWS.strip().splitlines():
        path, places = line.split(": ")
        found[f"data.{path}"] = tuple(
            "tfteach.lib.data" + place.replace("/", ".") if place[0] == "/" else place
            for place in places.split()
        )
    found["data.experimental.ops"] = ()
    for name in _EXPERIMENTAL.split():
        ours = [f"tfteach.lib.data.experimental.{n}" for n in [_MORE.get(name)] if n]
        found[f"data.experimental.ops.{name}"] = ("data.experimental", *ours)
    found["contrib.data.python.ops"] = ()
    for name in _CONTRIB.split():
        found[f"contrib.data.python.ops.{name}"] = _MODULES_OF_CONTRIB
    return found


def _renamed(module: str, **names: str) -> dict[str, str]:
    return {f"data.{module}.{name}": ours for name, ours in names.items()}


ALIASES = {
    **_renamed(
        "experimental.ops.cardinality",
        INFINITE="INFINITE_CARDINALITY",
        UNKNOWN="UNKNOWN_CARDINALITY",
    ),
    **_renamed("experimental.ops.counter", CounterV1="Counter"),
    **_renamed(
        "experimental.ops.stats_aggregator", StatsAggregatorV1="StatsAggregator"
    ),
    **_renamed("experimental.ops.random_ops", RandomDatasetV1="RandomDataset"),
    **_renamed(
        "experimental.ops.readers", CsvDatasetV1="CsvDataset", SqlDatasetV1="SqlDataset"
    ),
    **_renamed(
        "ops.dataset_ops",
        DatasetV1="Dataset",
        DatasetV1Adapter="Dataset",
        _VariantDataset="Dataset",
        _GeneratorDataset="GeneratorDataset",
        _RestructuredDataset="RestructuredDataset",
        DatasetV2="Dataset",
        get_legacy_output_classes="get_output_classes",
        get_legacy_output_shapes="get_output_shapes",
        get_legacy_output_types="get_output_types",
        StructuredFunctionWrapper="StructuredFunction",
    ),
    **_renamed(
        "ops.readers",
        FixedLengthRecordDatasetV1="FixedLengthRecordDataset",
        FixedLengthRecordDatasetV2="FixedLengthRecordDataset",
        TFRecordDatasetV1="TFRecordDataset",
        TFRecordDatasetV2="TFRecordDataset",
        TextLineDatasetV1="TextLineDataset",
        TextLineDatasetV2="TextLineDataset",
    ),
    **_renamed("ops.optional_ops", _OptionalImpl="OptionalImpl"),
    "contrib.data.python.ops.batching._RestructuredDataset": "RestructuredDataset",
    **_renamed("util.random_seed", get_seed="seed_tensors"),
    **_renamed(
        "util.structure",
        convert_legacy_structure="from_legacy",
        from_compatible_tensor_list="from_tensors",
        _SparseTensorStructure="sparse_tensor_structure",
        _TensorStructure="tensor_structure",
        normalize_element="normalized",
        to_batched_tensor_list="to_batched_tensors",
        to_tensor_list="to_tensors",
        type_spec_from_value="specs_of",
    ),
}
