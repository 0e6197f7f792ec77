"""The tables of kernels against what TensorFlow 1.15 registers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tfteach
import tfteach as tf
from tests.engine.plan.test_place import placed
from tests.golden import kernels
from tests.ops.case import import_families
from tfteach.engine.plan import gpu_kernels
from tfteach.framework.op import OPS, Op
from tfteach.framework.signature import Arg

GOLDEN: dict[str, Any] = json.loads(
    Path(kernels.__file__).with_suffix(".json").read_text()
)
DEFINITIONS: dict[str, Any] = json.loads(
    (Path(kernels.__file__).parent / "op_defs_tf115.json").read_text()
)
import_families()
HERE = {n: c for n, c in OPS.items() if c.__module__.startswith("tfteach.")}


def allowed_by_definition(name: str, attribute: str) -> set[str] | None:
    for attr in DEFINITIONS[name].get("attr", []):
        if attr["name"] == attribute and "allowedValues" in attr:
            types = attr["allowedValues"]["list"]["type"]
            return {tf.as_dtype(t.removeprefix("DT_").lower()).name
                    if t not in ("DT_HALF", "DT_FLOAT", "DT_DOUBLE") else
                    {"DT_HALF": "float16", "DT_FLOAT": "float32",
                     "DT_DOUBLE": "float64"}[t] for t in types}  # fmt: skip
    return None


def test_no_type_is_refused_that_tensorflow_computes_with() -> None:
    checked = 0
    for name in HERE.keys() & GOLDEN["cpu"].keys() & DEFINITIONS.keys():
        for attribute, types in GOLDEN["cpu"][name].items():
            here = getattr(HERE[name], attribute, None)
            if not isinstance(here, tuple) or attribute in HERE[name].fields:
                continue
            theirs = set(types.split())
            defined = allowed_by_definition(name, attribute)
            theirs = theirs if defined is None else theirs & defined
            assert theirs <= {t.name for t in here}, (name, attribute)
            checked += 1
    assert checked > 300


def test_ops_without_a_cpu_kernel_in_tensorflow() -> None:
    """Its graph optimizer replaces one; QuantizedReluX it declares, but cannot run."""
    lacking = {n for n in HERE.keys() & DEFINITIONS.keys() if n not in GOLDEN["cpu"]
               and HERE[n].outputs and n not in GOLDEN["gpu"]}  # fmt: skip
    assert lacking == {"AccumulateNV2", "QuantizedReluX"}


COMPARED = ("float16", "float32", "float64", "int32", "int64", "string")
DEVICE, HOST, NONE = "device", "host", "none"
# Kernels of TensorFlow that CuPy has no counterpart of.
LACKING = frozenset(
    "CumulativeLogsumexp FakeQuantWithMinMaxArgs FakeQuantWithMinMaxArgsGradient "
    "FakeQuantWithMinMaxVars FakeQuantWithMinMaxVarsGradient "
    "FakeQuantWithMinMaxVarsPerChannel FakeQuantWithMinMaxVarsPerChannelGradient "
    "GetSessionTensor GetSessionHandle DeleteSessionTensor HistogramFixedWidth "
    "QueueCloseV2 QueueDequeueV2 QueueEnqueueV2 QueueIsClosedV2 QueueSizeV2 "
    "Stage StageClear StagePeek StageSize Unstage "
    "MapClear MapIncompleteSize MapPeek MapSize MapStage MapUnstage MapUnstageNoKey "
    "OrderedMapClear OrderedMapIncompleteSize OrderedMapPeek OrderedMapSize "
    "OrderedMapStage OrderedMapUnstage OrderedMapUnstageNoKey "
    "Bucketize EagerPyFunc GeneratorDataset IteratorFromStringHandleV2 "
    "IteratorGetNext "
    "IteratorGetNextAsOptional IteratorGetNextSync IteratorToStringHandle IteratorV2 "
    "MakeIterator PrefetchDataset IgammaGradA ImageProjectiveTransformV2 Lu "
    "Multinomial NonMaxSuppressionV2 NonMaxSuppressionV3 RandomGammaGrad SleepDataset "
    "StatelessMultinomial TridiagonalMatMul TridiagonalSolve UnsortedSegmentProd "
    "VariableShape".split()
)
# These copy nothing: strings and int32 stay in host memory, other results on the card.
COPY_NOTHING = {
    (HOST, DEVICE): frozenset(
        "Enter Exit Identity IdentityN Merge NextIteration Placeholder StackPopV2 "
        "Switch TensorArraySizeV3".split()
    ),
    (DEVICE, HOST): frozenset(
        "DestroyResourceOp IsVariableInitialized ParallelDynamicStitch Qr StackCloseV2 "
        "StackV2 TensorArrayCloseV3 Unpack VarHandleOp VarIsInitializedOp".split()
    ),
    (NONE, DEVICE): frozenset(["ReadVariableOp"]),  # on the CPU, as its variable is
}
# Ops that TensorFlow computes on CPUs only.
ONLY_HERE = frozenset(
    "KMC2ChainInitialization KmeansPlusPlusInitialization NearestNeighbors "
    "Abort AccumulateNV2 ApplyAdagradDA ApplyFtrl ApplyFtrlV2 ApplyProximalAdagrad "
    "ApplyProximalGradientDescent CholeskyGrad CountUpTo GuaranteeConst InTopK "
    "ListDiff NthElement RandomGamma RandomPoissonV2 RandomShuffle RefSelect "
    "ResourceApplyAdagradDA ResourceApplyFtrl ResourceApplyFtrlV2 "
    "ResourceApplyProximalAdagrad ResourceApplyProximalGradientDescent "
    "ResourceCountUpTo ResourceSparseApplyAdadelta ResourceSparseApplyAdagrad "
    "ResourceSparseApplyAdagradDA ResourceSparseApplyAdagradV2 "
    "ResourceSparseApplyCenteredRMSProp ResourceSparseApplyFtrl "
    "ResourceSparseApplyFtrlV2 ResourceSparseApplyKerasMomentum "
    "ResourceSparseApplyMomentum ResourceSparseApplyProximalAdagrad "
    "ResourceSparseApplyProximalGradientDescent ResourceSparseApplyRMSProp SegmentMax "
    "SegmentMean SegmentMin SelfAdjointEig SparseApplyAdadelta SparseApplyAdagrad "
    "SparseApplyAdagradDA SparseApplyAdagradV2 SparseApplyCenteredRMSProp "
    "SparseApplyFtrl SparseApplyFtrlV2 SparseApplyMomentum SparseApplyProximalAdagrad "
    "SparseApplyProximalGradientDescent SparseApplyRMSProp SparseToDense "
    "UniqueWithCounts".split()
)
# Arguments that TensorFlow's kernels take from host memory, ours from the card, and the
# other way round.
ELSEWHERE = {
    "DynamicStitch": {"indices"},
    "InTopKV2": {"k"},
    "PadV2": {"constant_values"},
    "ParallelDynamicStitch": {"data", "indices"},
    "Qr": {"input"},
}


def main_attribute(cls: type[Op]) -> str:
    """The type attribute that decides which kernel is meant; "" if there is none."""
    own = {arg.type_attr for arg in (*cls.inputs, *cls.outputs)} | cls.fields.keys()
    return next((n for n in ("T", "dtype", "DstT", "Tparams") if n in own), "")


def our_kernel(cls: type[Op], kind: str) -> str:
    """Where the placer says that the op computes this type on a GPU."""
    main = main_attribute(cls)
    bound = {main: tf.as_dtype(kind)} if kind else {}

    def tensor(arg: Arg) -> SimpleNamespace:
        dtype = arg.dtype or bound.get(arg.type_attr)
        if dtype is None:
            allowed = cls.allowed_types(arg.type_attr) or (tf.int32,)
            dtype = tf.int32 if tf.int32 in allowed else allowed[0]
        return SimpleNamespace(dtype=dtype)

    spec = object.__new__(cls)
    for field in cls.fields:
        value = bound.get(field, cls.defaults.get(field))
        object.__setattr__(spec, field, value)
    inputs = [tensor(arg) for arg in cls.inputs]
    node: Any = SimpleNamespace(
        spec=spec,
        type=cls.op_type,
        inputs=inputs,
        outputs=[tensor(arg) for arg in cls.outputs],
        grouped_inputs=lambda: inputs,
    )
    if gpu_kernels.missing_kernel(node):
        return NONE
    return HOST if gpu_kernels.computes_on_host(node) else DEVICE


def their_kernel(cls: type[Op], kind: str) -> str:
    """Where TensorFlow's kernel for GPUs leaves its results."""
    main = main_attribute(cls)
    rows = [row for row in GOLDEN["gpu"].get(cls.op_type, [])
            if main not in row[1] or kind in row[1][main]]  # fmt: skip
    rows = [row for row in rows if row[0] == "gpu"] or rows
    results = {arg.name for arg in cls.outputs or cls.inputs}
    if not rows:
        return NONE
    return HOST if all(results <= set(host) for _, _, host in rows) else DEVICE


def kernels_compared() -> Iterator[tuple[str, str, str, str]]:
    """Op type, element type, our kernel, TensorFlow's."""
    for name in sorted(HERE.keys() & DEFINITIONS.keys()):
        cls = HERE[name]
        main = main_attribute(cls)
        allowed = cls.allowed_types(main) if main else None
        kinds = COMPARED if allowed is None else [t.name for t in allowed]
        for kind in [k for k in COMPARED if k in kinds] if main else [""]:
            yield name, kind, our_kernel(cls, kind), their_kernel(cls, kind)


ROWS = list(kernels_compared())


def test_every_kernel_of_tensorflow_is_here_and_in_the_same_memory() -> None:
    wrong = [row for row in ROWS if row[3] != NONE and row[2] != row[3]
             and row[0] not in COPY_NOTHING.get(row[2:], ())
             and not (row[2] == NONE and row[0] in LACKING)]  # fmt: skip
    assert not wrong
    assert len(ROWS) > 1200


def test_int32_and_strings_have_no_other_kernels_than_tensorflows() -> None:
    """Of the other types CuPy computes more than TensorFlow's kernels do."""
    held = [row for row in ROWS if row[1] in ("int32", "string")]
    more = {name for name, _, ours, theirs in held if ours != NONE == theirs}
    assert more == {"Rank", "Shape", "ShapeN", "Size"}  # of strings


def test_ops_that_tensorflow_runs_on_cpus_only() -> None:
    """An op that has a kernel for GPUs here and none in TensorFlow is listed."""
    found = {name for name, _, ours, _ in ROWS
             if ours != NONE and name not in GOLDEN["gpu"]}  # fmt: skip
    assert found == ONLY_HERE


def test_arguments_in_host_memory() -> None:
    """Sizes, axes and the like, which TensorFlow's kernels for GPUs take from there."""
    found, compared = {}, 0
    for name in HERE.keys() & GOLDEN["gpu"].keys():
        cls, main = HERE[name], main_attribute(HERE[name])
        kinds = [kind for op, kind, ours, _ in ROWS if op == name and ours == DEVICE]
        rows = [row for row in GOLDEN["gpu"][name]
                if any(kind in row[1].get(main, [kind]) for kind in kinds)]  # fmt: skip
        if not rows:
            continue
        names = {arg.name for arg in cls.inputs if arg.dtype is not tf.resource}
        theirs = set.intersection(*(set(host) for _, _, host in rows))
        if differing := names & (theirs ^ set(cls.host_inputs)):
            found[name] = differing
        compared += bool(theirs)
    assert found == ELSEWHERE
    assert compared > 60


@pytest.mark.usefixtures("no_cards")
def test_strings_go_through_branches_and_loops_on_gpus() -> None:
    tfteach.simulate_gpus(1)
    text = tf.placeholder(tf.string, [2], name="text")
    choice = tf.placeholder(tf.bool, [], name="choice")
    chosen = tf.cond(choice, lambda: tf.identity(text), lambda: text, name="cond")
    _, looped = tf.while_loop(
        lambda i, _: i < 3, lambda i, t: (i + 1, tf.identity(t)), [0, chosen]
    )
    both = tf.identity_n([looped, text], name="both")
    with tf.Session() as sess:
        value, _ = sess.run(both, {text: ["a", "b"], choice: True})
        assert value.tolist() == [b"a", b"b"]
        kinds = {p.op_type: p for p in sess.placements.values()}
        moved = [name for name, _ in sess.transfers.latest]
    for kind in ("Switch", "Merge", "Enter", "Exit", "NextIteration", "Identity"):
        assert kinds[kind].assigned.endswith("GPU:0")
    assert kinds["IdentityN"].reason == "default: GPU first; computed in host memory"
    assert moved  # the choice, which is a bool
    assert not any("text" in name or "while" in name for name in moved)


@pytest.mark.usefixtures("no_cards")
def test_kernels_for_integers_only() -> None:
    tfteach.simulate_gpus(1)
    numbers = tf.placeholder(tf.int64, [None], name="numbers")
    floats = tf.placeholder(tf.float32, [None], name="floats")
    tf.unique(numbers, name="u64")
    tf.unique(floats, name="u32f")
    tf.invert_permutation(numbers, name="inverse")
    array = tf.TensorArray(tf.float32, 2, name="array").unstack(floats)
    size = array.size(name="size")
    checked = tf.Assert(size > 0, [floats], name="checked")
    with tf.Session() as sess:
        fetches = [f"{n}:0" for n in ("u64", "u32f", "inverse")]
        feeds = {numbers: [1, 0], floats: [2.0, 3.0]}
        u64, u32, inverse = sess.run(fetches, feeds)
        assert (u64.tolist(), u32.tolist(), inverse.tolist()) == (
            [1, 0], [2.0, 3.0], [1, 0],
        )  # fmt: skip
        assert sess.run([array.stack(), size, checked], feeds)[1] == 2
        np.testing.assert_array_equal(sess.run(array.read(1), feeds), np.float32(3.0))
        found = placed(sess)
        (where,) = {
            p.assigned for p in sess.placements.values() if p.op_type == "Assert"
        }
    assert found["u64"] == ("GPU:0", "default: GPU first; computed in host memory")
    assert found["inverse"] == found["u64"]
    assert found["u32f"] == ("CPU:0", "no GPU kernel for float32 Unique")
    assert found["array"][0] == found["size"][0] == "GPU:0"
    assert where.endswith("GPU:0")
