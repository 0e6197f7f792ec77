"""Serialized Examples of unusual encodings: what TensorFlow 1.15 reads in them.

`python example_bytes.py` records example_bytes.json;
tests/ops/io/test_example_wire.py compares.
"""

import json
import os
import struct


def varint(number):
    found = b""
    while number > 127:
        found += bytes([number & 127 | 128])
        number >>= 7
    return found + bytes([number])


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


BYTES, FLOATS, INTS = 1, 2, 3
NUMBER, STRING, GROUP = b"\x78\x05", b"\x7a\x01a", b"\x7b\x7c"  # other fields
FIXED, BROKEN, END = b"\x7dabcd", b"\x0f", b"\x0c"


def packed(kind, *numbers):
    if kind == INTS:
        return field(1, b"".join(map(varint, numbers)))
    return field(1, struct.pack(f"<{len(numbers)}f", *numbers))


def tagged(kind, *numbers):
    if kind == INTS:
        return b"".join(b"\x08" + varint(number) for number in numbers)
    return b"".join(b"\x0d" + struct.pack("<f", number) for number in numbers)


def lists(kind):
    """Contents of an Int64List or FloatList by name."""
    both, each = packed(kind, 1, 2), tagged(kind, 1, 2)
    found = {
        "packed": both,
        "tagged": each,
        "packed twice": packed(kind, 1) + packed(kind, 2),
        "packed, tagged": packed(kind, 1) + tagged(kind, 2),
        "tagged, packed": tagged(kind, 1) + packed(kind, 2),
        "packed after an empty one": packed(kind) + both,
        "field between tagged ones": tagged(kind, 1) + NUMBER + tagged(kind, 2),
        "cut off": both[:-1],
        "three bytes": b"\x0a\x03abc",
        "last number cut off": b"\x0a\x02\x80\x80",
        "long tag": b"\x8a\x80\x00" + both[1:],
        "long tag of a number": bytes([each[0] | 128, 0]) + each[1:],
        "nothing": b"",
        "other numbers": b"\x09abcdefgh",
    }
    others = {"number": NUMBER, "string": STRING, "fixed": FIXED, "group": GROUP}
    for name, other in dict(others, broken=BROKEN, end=END).items():
        found[name + " before packed"] = other + both
        found[name + " after packed"] = both + other
        found[name + " after tagged"] = each + other
    return found


def strings():
    """Contents of a BytesList by name."""
    one = field(1, b"x")
    return {
        "one": one,
        "two": one + field(1, b"y"),
        "nothing": b"",
        "field before": NUMBER + one,
        "field after": one + NUMBER,
        "field between": one + STRING + one,
        "number": b"\x08\x01",
    }


def features():
    """Features by name, of which the first list should have the numbers 1 and 2."""
    ints, floats = (field(kind, packed(kind, 1, 2)) for kind in (INTS, FLOATS))
    more = field(INTS, packed(INTS, 3, 4))
    return {
        "nothing": b"",
        "two lists": ints + more,
        "two kinds": ints + floats,
        "other kind first": floats + ints,
        "field before": NUMBER + ints,
        "field after": ints + NUMBER,
        "string before": STRING + ints,
        "group before": GROUP + ints,
        "fourth kind": field(4, b"ab") + ints,
        "number for a list": b"\x18\x01",
        "broken": BROKEN,
        "broken after": ints + BROKEN,
        "empty list": field(INTS, b""),
        "empty list before": field(INTS, b"") + ints,
        "list is cut off": ints[:-1],
    }


def examples():
    """(kind, serialized Example) by name, with the feature `a`."""
    key, value = field(1, b"a"), field(2, field(INTS, packed(INTS, 1, 2)))
    other = field(2, field(INTS, packed(INTS, 3, 4)))
    entries = {
        "feature before key": value + key,
        "two features": key + value + other,
        "two keys": key + field(1, b"b") + value,
        "no key": value,
        "no feature": key,
        "field in entry": key + value + NUMBER,
    }
    found = {
        "entry: " + name: (INTS, field(1, field(1, entry)))
        for name, entry in entries.items()
    }
    for kind in (INTS, FLOATS):
        for name, content in lists(kind).items():
            feature = field(2, field(kind, content))
            example = field(1, field(1, key + feature))
            found[f"{kind}: {name}"] = kind, example
    for name, content in strings().items():
        example = field(1, field(1, key + field(2, field(BYTES, content))))
        found["strings: " + name] = BYTES, example
    for name, feature in features().items():
        example = field(1, field(1, key + field(2, feature)))
        found["feature: " + name] = INTS, example
    usual = field(1, field(1, key + value))
    found["field 0"] = INTS, b"\x00\x01" + usual
    return found


def answers(tf):
    """name -> what `parse_single_example` and `parse_example` return for it."""
    found = {}
    types = {BYTES: tf.string, FLOATS: tf.float32, INTS: tf.int64}
    with tf.Graph().as_default(), tf.Session() as session:
        one, many = tf.placeholder(tf.string, []), tf.placeholder(tf.string, [None])
        parsed = {}
        for kind, dtype in types.items():
            shape = [] if kind == BYTES else [2]
            all_of = {"a": tf.io.VarLenFeature(dtype)}
            two = {"a": tf.io.FixedLenFeature(shape, dtype)}
            parsed[kind] = [
                (one, tf.io.parse_single_example(one, all_of)["a"].values),
                (many, tf.io.parse_example(many, all_of)["a"].values),
                (one, tf.io.parse_single_example(one, two)["a"]),
                (many, tf.io.parse_example(many, two)["a"]),
            ]
        for name, (kind, example) in examples().items():
            rows = []
            for fed, fetch in parsed[kind]:
                value = example if fed is one else [example]
                try:
                    row = session.run(fetch, {fed: value})
                    row = row if isinstance(row, bytes) else row.ravel().tolist()
                    row = str(row)
                except tf.errors.InvalidArgumentError as error:
                    row = error.message.split("\n")[0].split("value: '")[0]
                rows.append(row)
            found[name] = rows
    return found


if __name__ == "__main__":
    import tensorflow

    path = os.path.splitext(os.path.abspath(__file__))[0] + ".json"
    with open(path, "w") as file:
        json.dump(answers(tensorflow), file, indent=1)
        file.write("\n")
