"""Makes the GraphDef of a file smaller; see optimize_for_inference_lib.py.

    python -m tfteach.lib.inference.optimize_for_inference --input=frozen.pb \
        --output=small.pb --input_names=x --output_names=prediction

Source: python/tools/optimize_for_inference.py.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from tfteach.framework.dtypes import float32
from tfteach.framework.files.pending_file import write_file
from tfteach.framework.protos import pool
from tfteach.lib.files.graph_io import read_message, write_graph
from tfteach.lib.inference.optimize_for_inference_lib import optimize_for_inference


def main(arguments: Sequence[str]) -> int:
    """Optimize the graph that the command line names.

    Args:
      arguments: without the program's name.

    Returns:
      The exit status.
    """

    def truth(text: str) -> bool:
        return text.lower() == "true"

    parser = argparse.ArgumentParser(prog="optimize_for_inference", description=__doc__)
    for name in ("input", "output", "input_names", "output_names"):
        parser.add_argument(f"--{name}", required=True)
    for name, given in (("frozen_graph", True), ("toco_compatible", False)):
        parser.add_argument(
            f"--{name}", nargs="?", const=True, type=truth, default=given
        )
    parser.add_argument(
        "--placeholder_type_enum", default=str(float32.as_datatype_enum)
    )
    options = parser.parse_args(arguments)
    inputs = options.input_names.split(",")
    types = [int(number) for number in options.placeholder_type_enum.split(",")]
    try:
        # As in TF, a graph that is not frozen is text.
        graph_def = read_message(
            options.input, pool.message("GraphDef"), not options.frozen_graph
        )
        made = optimize_for_inference(
            graph_def,
            inputs,
            options.output_names.split(","),
            types * len(inputs) if len(types) == 1 else types,
            options.toco_compatible,
        )
    except (OSError, ValueError, KeyError, AssertionError) as error:
        print(f"optimize_for_inference: {error}", file=sys.stderr)
        return 1
    if options.frozen_graph:
        write_file(options.output, made.SerializeToString())
    else:
        write_graph(made, *os.path.split(options.output))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
