"""Results of TensorFlow's quantized kernels, bit for bit.

`python -m tests.golden.quantization` asks the oracle and writes quantization.json: for
each call of `calls` its outputs, or its error.  The inputs are random numbers from a
seed, the same for both.
"""

import base64
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__)
FILE = HERE.with_suffix(".json")
TYPES = "qint8", "quint8", "qint16", "quint16", "qint32"
RANGES = (0.0, 1.0), (-1.0, 1.0), (-3.7, 0.9), (-0.25, 6.0), (0.5, 2.0), (-2.0, -0.5)
COUNT = 2  # variants of each call


def calls(count=COUNT):
    """(name, op type, inputs as (array, type), attributes) of each call."""
    for index in range(count):
        for name, op_type, make in families():
            seed = sum(map(ord, name)) + 7919 * index
            inputs, attributes = make(np.random.RandomState(seed))
            yield f"{name} {index}", op_type, inputs, attributes


def families():
    """(name, op type, function of a random state that makes inputs and attributes)."""
    found = []

    def add(op_type, make, *variant):
        found.append((" ".join((op_type, *variant)), op_type, make))

    for dtype in TYPES:
        for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED"):
            for rounding in ("HALF_AWAY_FROM_ZERO", "HALF_TO_EVEN"):
                if rounding == "HALF_TO_EVEN" and mode != "SCALED":
                    continue
                attributes = {"T": dtype, "mode": mode, "round_mode": rounding}
                add("QuantizeV2", quantize(attributes), dtype, mode, rounding)
            add("Dequantize", dequantize(dtype, mode), dtype, mode)
    for signed in (True, False):
        for given in (True, False):
            for narrow in (True, False):
                words = [name for name, holds in
                         (("signed", signed), ("given", given), ("narrow", narrow))
                         if holds]  # fmt: skip
                attributes = {
                    "signed_input": signed, "range_given": given, "narrow_range": narrow
                }  # fmt: skip
                add("QuantizeAndDequantizeV3", both_ways(attributes, True), *words)
                for rounding in ("HALF_TO_EVEN", "HALF_UP"):
                    full = dict(attributes, round_mode=rounding)
                    make = both_ways(full, False)
                    add("QuantizeAndDequantizeV2", make, *words, rounding)
    add("RequantizationRange", of_one("qint32", {}))
    shrink = {"out_type": "quint8"}
    add("QuantizeDownAndShrinkRange", of_one("qint32", shrink))
    for dtype in ("qint8", "quint8"):
        add("Requantize", requantize(dtype), dtype)
        add("QuantizedBiasAdd", bias_add(dtype), dtype)
    for dtype in ("quint8", "qint32"):
        for op_type in ("QuantizedRelu", "QuantizedRelu6"):
            add(op_type, of_one(dtype, {"out_type": dtype}), dtype)
        add("QuantizedConcat", concat(dtype), dtype)
        add("QuantizedReshape", reshape(dtype), dtype)
    for op_type in ("QuantizedAdd", "QuantizedMul"):
        for kind in ("vectors", "scalar", "scalar first", "rows", "one"):
            add(op_type, arithmetic(kind), kind)
    for left in (False, True):
        for right in (False, True):
            words = [name for name, holds in (("a", left), ("b", right)) if holds]
            add("QuantizedMatMul", matmul(left, right), *words)
    for padding in ("SAME", "VALID"):
        for stride in (1, 2):
            words = padding, f"stride {stride}"
            add("QuantizedConv2D", conv(padding, stride), *words)
            for op_type in ("QuantizedMaxPool", "QuantizedAvgPool"):
                add(op_type, pool(padding, stride), *words)
    for scaled in (False, True):
        words = ["scaled"] if scaled else []
        make = batch_norm({"variance_epsilon": 0.01,
                           "scale_after_normalization": scaled,
                           "out_type": "qint32"})  # fmt: skip
        add("QuantizedBatchNormWithGlobalNormalization", make, *words)
    given = {"output_range_given": True, "given_y_min": -2.0, "given_y_max": 1.5}
    for words, attributes in (
        ([], {}), (["given"], given), (["separated"], {"min_separation": 100.0}),
        (["no range"], {"output_range_given": True}),
    ):  # fmt: skip
        add("QuantizedInstanceNorm", instance_norm(attributes), *words)
    for dtype in ("quint8", "qint32", "float32"):
        for words in ([], ["align_corners"], ["half_pixel_centers"]):
            make = resize(dtype, dict.fromkeys(words, True))
            add("QuantizedResizeBilinear", make, dtype, *words)
    return found


# ---- inputs and attributes


def floats(random, *shape):
    scale = (1.0, 0.1, 30.0)[random.randint(3)]
    return (scale * random.standard_normal(shape)).astype(np.float32), "float32"


def quantized(random, dtype, *shape):
    limits = np.iinfo(dtype[1:])
    values = random.randint(limits.min, limits.max + 1, size=shape, dtype=np.int64)
    return values.astype(dtype[1:]), dtype


def small(random, *shape):
    """Sums of a few products, as qint32."""
    return random.randint(-300000, 300000, size=shape).astype(np.int32), "qint32"


def limits_of(random):
    """A range."""
    low, high = RANGES[random.randint(len(RANGES))]
    return [(np.float32(low), "float32"), (np.float32(high), "float32")]


def quantize(attributes):
    def make(random):
        return [floats(random, 37), *limits_of(random)], attributes

    return make


def dequantize(dtype, mode):
    def make(random):
        return [quantized(random, dtype, 37), *limits_of(random)], {"mode": mode}

    return make


def both_ways(attributes, bits_are_input):
    def make(random):
        kind = ("float32", "float64")[random.randint(2)]
        inputs = [(floats(random, 5, 7)[0].astype(kind), kind)]
        inputs += [(limit.astype(kind), kind) for limit, _ in limits_of(random)]
        bits = int(random.randint(2, 17))
        if bits_are_input:
            return [*inputs, (np.int32(bits), "int32")], attributes
        return inputs, dict(attributes, num_bits=bits)

    return make


def of_one(dtype, attributes):
    def make(random):
        is_small = dtype == "qint32" and random.randint(2)
        x = small(random, 5, 7) if is_small else quantized(random, dtype, 5, 7)
        return [x, *limits_of(random)], attributes

    return make


def requantize(dtype):
    def make(random):
        inputs = [small(random, 5, 7), *limits_of(random), *limits_of(random)]
        return inputs, {"out_type": dtype}

    return make


def bias_add(dtype):
    def make(random):
        inputs = [quantized(random, dtype, 3, 5), quantized(random, dtype, 5)]
        inputs += limits_of(random) + limits_of(random)
        return inputs, {"out_type": "qint32"}

    return make


def concat(dtype):
    def make(random):
        axis = int(random.randint(2))
        parts = [quantized(random, dtype, 3, 2) for _ in range(3)]
        ranges = [limits_of(random) for _ in range(3)]
        lows, highs = zip(*ranges)
        return [(np.int32(axis), "int32"), parts, list(lows), list(highs)], {}

    return make


def reshape(dtype):
    def make(random):
        sizes = np.int32([3, -1]), "int32"
        return [quantized(random, dtype, 2, 6), sizes, *limits_of(random)], {}

    return make


def arithmetic(kind):
    def make(random):
        x = {"scalar first": (), "one": (1,)}.get(kind, (4, 3))
        y = {"scalar": (), "rows": (3,), "one": (1,)}.get(kind, (4, 3))
        inputs = [quantized(random, "quint8", *x), quantized(random, "quint8", *y)]
        inputs += limits_of(random) + limits_of(random)
        return inputs, {"Toutput": "qint32"}

    return make


def batch_norm(attributes):
    def make(random):
        image = [quantized(random, "quint8", 2, 3, 3, 4), *limits_of(random)]
        for kind in range(4):
            image.append(quantized(random, "quint8", 4))
            is_variance = kind == 1
            ends = np.float32([0, 2]) if is_variance else None
            image += [(end, "float32") for end in ends] if is_variance else (
                limits_of(random))  # fmt: skip
        return image, attributes

    return make


def instance_norm(attributes):
    def make(random):
        shape = random.randint(1, 6, size=4).tolist()
        return [quantized(random, "quint8", *shape), *limits_of(random)], attributes

    return make


def resize(dtype, attributes):
    def make(random):
        height, width, channels = random.randint(1, 7, size=3).tolist()
        shape = 2, height, width, channels
        image = floats(random, *shape)
        if dtype != "float32":
            image = quantized(random, dtype, *shape)
        size = random.randint(1, 12, size=2).astype(np.int32), "int32"
        return [image, size, *limits_of(random)], attributes

    return make


def matmul(left, right):
    def make(random):
        m, k, n = random.randint(1, 9, size=3).tolist()
        a = quantized(random, "quint8", *((k, m) if left else (m, k)))
        b = quantized(random, "quint8", *((n, k) if right else (k, n)))
        attributes = {"transpose_a": left, "transpose_b": right, "Toutput": "qint32"}
        return [a, b, *limits_of(random), *limits_of(random)], attributes

    return make


def conv(padding, stride):
    def make(random):
        image = quantized(random, "quint8", 2, 5, 6, 3)
        filters = quantized(random, "quint8", *random.randint(1, 4, 2), 3, 4)
        attributes = {
            "strides": [1, stride, stride, 1], "padding": padding, "out_type": "qint32"
        }  # fmt: skip
        return [image, filters, *limits_of(random), *limits_of(random)], attributes

    return make


def pool(padding, stride):
    def make(random):
        size = random.randint(1, 4, 2).tolist()
        attributes = {
            "ksize": [1, *size, 1], "strides": [1, stride, stride, 1],
            "padding": padding,
        }  # fmt: skip
        return [quantized(random, "quint8", 2, 5, 6, 3), *limits_of(random)], attributes

    return make


# ---- answers


def described(values):
    """Arrays as plain data."""
    return [
        [str(array.dtype), list(array.shape),
         base64.b64encode(array.tobytes()).decode()]
        for array in map(np.asarray, values)
    ]  # fmt: skip


def run(tf, names, op_type, inputs, attributes, build):
    """The outputs of one op, or [class, first line] of its error.

    Args:
      tf: the library.
      names: the names of the op's inputs.
      op_type, inputs, attributes: as from `calls`.
      build: function of the op type, the inputs by name, and the attributes.
    """
    with tf.Graph().as_default():
        feeds = {}

        def fed(part):
            if isinstance(part, list):
                return [fed(each) for each in part]
            array, dtype = part
            node = tf.placeholder(dtype, np.shape(array))
            feeds[node] = np.asarray(array)
            return node

        try:
            given = dict(zip(names, [fed(part) for part in inputs]))
            outputs = build(op_type, given, attributes)
            outputs = [outputs] if isinstance(outputs, tf.Tensor) else list(outputs)
            with tf.Session() as session:
                return described(session.run(outputs, feeds))
        except (ValueError, tf.errors.OpError) as error:
            message = getattr(error, "message", None) or str(error)
            return [type(error).__name__, message.split("\n")[0]]


def answer(path, count):
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    definitions = json.loads((HERE.parent / "op_defs_tf115.json").read_text())

    def build(op_type, given, attributes):
        return getattr(tf.raw_ops, op_type)(**dict(given, **attributes))

    found = {}
    for name, op_type, inputs, attributes in calls(int(count)):
        names = [arg["name"] for arg in definitions[op_type]["inputArg"]]
        found[name] = run(tf, names, op_type, inputs, attributes, build)
    rows = [f"{json.dumps(n)}: {json.dumps(found[n])}" for n in found]
    Path(path).write_text("{\n" + ",\n".join(rows) + "\n}\n")


def main():
    from tests.conftest import find_oracle

    python = find_oracle()
    assert python, "no TensorFlow 1.15: set TFTEACH_ORACLE"
    subprocess.run([python, str(HERE), str(FILE), str(COUNT)], check=True)


if __name__ == "__main__":
    answer(*sys.argv[1:]) if len(sys.argv) > 1 else main()
