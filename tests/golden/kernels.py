"""The kernels that TensorFlow 1.15 registers: their types and memory.

Run with the oracle's Python, `python kernels.py kernels.json`, where the wheel of
tensorflow-gpu 1.15.5 (which needs no card for this) is unpacked on the PYTHONPATH.
"cpu" has, for each op, the types that its CPU kernels take together, by attribute.
"gpu" has the kernels for GPUs, or for every device ("any"): the values of the type
attributes, and the arguments that are in host memory.
"""

import json
import sys


def main():
    import tensorflow as tf
    from tensorflow.python.framework import dtypes, kernels

    tf.contrib.image.rotate  # noqa: B018 -- loads contrib, whose ops are in libraries
    cpu, gpu = {}, {}
    for kernel in kernels.get_all_registered_kernels().kernel:
        if kernel.op.startswith("_") or kernel.label:
            continue
        types = {
            c.name: [dtypes.as_dtype(t).name for t in c.allowed_values.list.type]
            for c in kernel.constraint
        }
        if kernel.device_type == "CPU":
            cpu.setdefault(kernel.op, []).append(types)
        elif kernel.device_type in ("GPU", "DEFAULT"):
            where = "any" if kernel.device_type == "DEFAULT" else "gpu"
            row = [where, types, sorted(kernel.host_memory_arg)]
            gpu.setdefault(kernel.op, []).append(row)
    together = {}
    for op, rows in cpu.items():
        together[op] = {
            name: " ".join(sorted({t for row in rows for t in row[name]}))
            for name in set.intersection(*(set(row) for row in rows))
        }
    with open(sys.argv[1], "w") as out:
        found = {"cpu": together, "gpu": gpu}
        json.dump(found, out, indent=None, sort_keys=True, separators=(",", ":"))
        out.write("\n")


if __name__ == "__main__":
    main()
