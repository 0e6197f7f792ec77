"""Random graphs on several devices, run once with a trace; for either TensorFlow.

The oracle's Python runs this file by itself: `python traced_graphs.py FIRST COUNT`
prints what `traced` finds in each, as JSON.
"""

import json
import random
import re
import sys
from collections import namedtuple

LOCAL = "/job:localhost/replica:0/task:0/device:"
Built = namedtuple("Built", "fetches feeds initializers devices")
_LABEL = re.compile(r"(?:\[.*\] )?(.*) = (\w+)\((.*)\)$")
_NUMBERED = re.compile(r"/_\d+$")


class Chance:
    """Choices that are the same for a seed in every version of Python."""

    def __init__(self, seed):
        self._random = random.Random(seed).random

    def number(self, below):
        return int(self._random() * below)

    def pick(self, items):
        return items[self.number(len(items))]

    def often(self, share):
        return self._random() < share


class Builder:
    """Builds one random graph in the default graph of `tf`."""

    def __init__(self, tf, seed, gpus=False):
        self.tf = tf
        self.gpus = gpus
        self.chance = chance = Chance(seed)
        self.devices = 1 if chance.often(0.5) else 3
        self.feeds, self.values, self.operations, self.variables = {}, [], [], []
        for i in range(1 + chance.number(2)):
            with self.somewhere():
                fed = tf.placeholder(tf.float32, [2], name=f"p{i}")
            self.feeds[fed] = [1.0, 2.0]
            self.values.append(fed)
        for i in range(chance.number(3)):
            with self.somewhere():
                self.variables.append(self.variable(i))
        for i in range(3 + chance.number(10)):
            self.add(f"n{i}")

    def somewhere(self):
        if self.gpus:
            names = ("/gpu:0", "/gpu:1", "/cpu:0", None)
            return self.tf.device(self.chance.pick(names))
        if self.devices > 1 and self.chance.often(0.7):
            return self.tf.device(f"/cpu:{self.chance.number(self.devices)}")
        return self.tf.device(None)

    def variable(self, i):
        tf = self.tf
        if self.chance.often(0.6):
            return tf.Variable([1.0, 2.0], name=f"v{i}")
        ones = tf.ones_initializer()
        return tf.get_variable(f"w{i}", [2], use_resource=True, initializer=ones)

    def add(self, name):
        """One more op, with the ops that its function makes."""
        tf, chance = self.tf, self.chance
        waits = []
        if self.operations and chance.often(0.2):
            waits.append(chance.pick(self.operations))
        with self.somewhere(), tf.control_dependencies(waits):
            known = self.values + self.variables
            made = self.made(name, chance.pick(known), chance.pick(known))
            if hasattr(made, "op") and made.shape.ndims == 0:
                made = tf.fill([2], made)
        if hasattr(made, "op"):
            self.values.append(made)
            made = made.op
        self.operations.append(made)

    def made(self, name, a, b):
        tf, chance = self.tf, self.chance
        kinds = {
            "constant": lambda: tf.constant([float(len(self.values)), 1.0], name=name),
            "identity": lambda: tf.identity(a, name=name),
            "exp": lambda: tf.exp(a, name=name),
            "product": lambda: tf.multiply(a, b, name=name),
            "total": lambda: tf.add_n(
                [tf.convert_to_tensor(a), tf.convert_to_tensor(b)], name=name
            ),
            "pieces": lambda: tf.unstack(a, name=name)[chance.number(2)] * b,
            "reshape": lambda: tf.reshape(a, [2], name=name),
            "sum": lambda: tf.reduce_sum(a, name=name) + b,
            "shape": lambda: tf.cast(tf.shape(a, name=name), tf.float32) + b,
            "random": lambda: tf.random_uniform([2], name=name),
            "stop": lambda: tf.stop_gradient(a, name=name),
            "squeeze": lambda: tf.squeeze(tf.expand_dims(a, 0, name=name), 0),
            "group": lambda: tf.group(*self.operations[-2:], name=name),
            "difference": lambda: tf.subtract(a, b, name=name),
        }
        if self.variables:
            variable = chance.pick(self.variables)
            half = tf.constant(0.5, name=name + "/half")
            kinds["write"] = lambda: variable.assign_add(a * half).op
        if self.devices == 1:
            kinds["branch"] = lambda: tf.cond(
                tf.reduce_sum(a) > float(chance.number(9)),
                lambda: tf.exp(a),
                lambda: tf.negative(b),
                name=name,
            )
            kinds["loop"] = lambda: tf.while_loop(
                lambda i, x: i < 2,
                lambda i, x: (i + 1, x * 0.5),
                [0, tf.convert_to_tensor(a)],
                name=name,
            )[1]
        return kinds[chance.pick(sorted(kinds))]()

    def built(self):
        chance = self.chance
        fetches = [chance.pick(self.values) for _ in range(1 + chance.number(3))]
        if chance.often(0.4):
            fetches.append(chance.pick(self.operations))
        if self.variables and chance.often(0.2):
            fetches.append(chance.pick(self.variables))
        inner = chance.pick(self.values)
        if chance.often(0.2) and inner.op.type != "Placeholder":
            self.feeds[inner] = [3.0, 4.0]
        initializers = [variable.initializer for variable in self.variables]
        return Built(fetches, self.feeds, initializers, self.devices)


def traced(tf, seed, optimized, gpus=False):
    """The RunMetadata of one run of the graph of a seed; `gpus` puts ops on two."""
    with tf.Graph().as_default():
        built = Builder(tf, seed, gpus).built()
        config = tf.ConfigProto(device_count={"CPU": built.devices})
        config.allow_soft_placement = gpus
        if not optimized:
            config.graph_options.optimizer_options.opt_level = -1
            config.graph_options.rewrite_options.disable_meta_optimizer = True
        with tf.Session(config=config) as session:
            session.run(built.initializers)
            metadata = tf.RunMetadata()
            options = tf.RunOptions(trace_level=3, output_partition_graphs=True)
            session.run(built.fetches, built.feeds, options, metadata)
    return metadata


def canonical(metadata):
    """Rows and nodes by names in which nothing is counted, without times."""
    nodes = [node for graph in metadata.partition_graphs for node in graph.node]
    renamed = {}
    for node in nodes:
        if _NUMBERED.search(node.name):
            source = _NUMBERED.sub("", node.name)
            ends = [node.device[-1]]
            if node.op in ("_Send", "_Recv"):
                ends = [
                    node.attr[e].s[-1:].decode() for e in ("send_device", "recv_device")
                ]
            where = ">".join(ends)
            renamed[node.name] = f"{source}>{where}:{node.op}"

    def plain(text):
        mark = "^" if text.startswith("^") else ""
        name, colon, slot = text.lstrip("^").partition(":")
        return mark + renamed.get(name, name) + colon + slot

    rows = {}
    for device in metadata.step_stats.dev_stats:
        where = device.device.replace(LOCAL, "")
        for row in device.node_stats:
            if where == "/host:CPU":
                name, _, kind = row.node_name.rpartition(":")
                entry = row.timeline_label.split("device=")[1].replace(LOCAL, "")
                rows.setdefault(f"{plain(name)}:{kind}", []).append(entry)
                continue
            _, kind, inputs = _LABEL.match(row.timeline_label).groups()
            taken = [plain(name) for name in inputs.split(", ") if name]
            outputs = [_output(output) for output in row.output]
            # TensorFlow's label says how a fetch was called before it was rewired.
            entry = [kind, [] if kind == "_Retval" else taken, outputs]
            rows.setdefault(f"{where} {plain(row.node_name)}", []).append(entry)
    graphs = {}
    for node in nodes:
        inputs = [plain(name) for name in node.input]
        unstable = ("_class", "_start_time")
        attrs = sorted(name for name in node.attr if name not in unstable)
        device = node.device.replace(LOCAL, "")
        graphs.setdefault(plain(node.name), []).append([node.op, inputs, device, attrs])
    return {"rows": rows, "nodes": graphs}


def _output(output):
    tensor = output.tensor_description
    sizes = [dim.size for dim in tensor.shape.dim]
    size_bytes = tensor.allocation_description.requested_bytes
    return [output.slot, tensor.dtype, sizes, size_bytes]


if __name__ == "__main__":
    import tensorflow

    first, count = int(sys.argv[1]), int(sys.argv[2])
    found = {
        seed: canonical(traced(tensorflow, seed, optimized=False))
        for seed in range(first, first + count)
    }
    json.dump(found, sys.stdout)
