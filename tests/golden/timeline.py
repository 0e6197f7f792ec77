"""Traces for Chrome, as real TensorFlow 1.15 writes them of made-up step_stats.

Run with the oracle's Python: `python timeline.py timeline.json`.
"""

import itertools
import json
import sys

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
GPU = "/job:localhost/replica:0/task:0/device:GPU:0"

# device -> rows: name, start, length, label, bytes of the outputs
ROWS = {
    "/host:CPU": [("b:Exp", 14, 3, "id=1,device=x,async=false", [])],
    CPU: [
        ("_SOURCE", 10, 1, "_SOURCE = NoOp()", []),
        ("a", 11, 4, "a = Const()", [16]),
        ("b", 13, 6, "[cpu 1.0MB 1.0MB] b = Exp(a, ^_SOURCE)", [8]),
        ("s", 19, 5, "s = Split(b, a)", [4, 4]),
        ("loop/x", 25, 2, "loop/x = Add(s, s:1)", [4]),
        ("loop/x", 28, 0, "loop/x = Add(loop/x, s:1)", [4]),
        ("strange", 29, 5, "no label", []),
        ("RecvTensor", 40, 5, "[1.0MB] from a to b", []),
        ("text", 46, 2, "text = Const()", [0]),
    ],
    GPU: [
        ("g", 30, 9, "g = Mul(s/_5, /_7, gone)", [64]),
        ("h", 39, 1, "h = Neg(g)", [64]),
    ],
    "/device:GPU:0/stream:all": [("g:Mul", 31, 4, "ignored = Mul(a)", [])],
    "/device:GPU:0/memcpy": [("edge", 12, 4, "MEMCPYHtoD", [])],
}


def metadata_of(tf):
    """A RunMetadata with those rows."""
    metadata = tf.RunMetadata()
    for device, rows in ROWS.items():
        stats = metadata.step_stats.dev_stats.add(device=device)
        for name, start, length, label, sizes in rows:
            row = stats.node_stats.add(
                node_name=name,
                all_start_micros=start,
                all_end_rel_micros=length,
                timeline_label=label,
            )
            for slot, size_bytes in enumerate(sizes):
                tensor = row.output.add(slot=slot).tensor_description
                tensor.dtype = 1
                found = tensor.allocation_description
                found.requested_bytes = size_bytes
                if size_bytes:
                    found.allocator_name = "gpu" if device == GPU else "cpu"
    return metadata


def traces_of(tf, timeline_class):
    """The traces with and without arrows and memory, and what is held at most."""
    stats = metadata_of(tf).step_stats
    found = {}
    for arrows, memory in itertools.product((True, False), repeat=2):
        timeline = timeline_class(stats)
        key = f"arrows={arrows} memory={memory}"
        found[key] = timeline.generate_chrome_trace_format(arrows, memory)
    analysis = timeline_class(stats).analyze_step_stats()
    found["plain"] = analysis.chrome_trace.format_to_string()
    found["maximums"] = {
        name: [most.timestamp, most.num_bytes, sorted(most.tensors)]
        for name, most in analysis.allocator_maximums.items()
    }
    return found


if __name__ == "__main__":
    import tensorflow
    from tensorflow.python.client.timeline import Timeline

    with open(sys.argv[1], "w") as file:
        json.dump(traces_of(tensorflow, Timeline), file, separators=(",", ":"))
        file.write("\n")
