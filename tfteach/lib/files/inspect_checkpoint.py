"""Prints what a checkpoint holds.

    python -m tfteach.lib.files.inspect_checkpoint --file_name=logs/model-7

Programs import it as `tensorflow.python.tools.inspect_checkpoint`.
Source: python/tools/inspect_checkpoint.py.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
from collections.abc import Sequence

from tfteach.framework.errors import DataLossError, OpError
from tfteach.framework.type_aliases import PathLike
from tfteach.lib.files.checkpoint_reader import new_checkpoint_reader


def print_tensors_in_checkpoint_file(
    file_name: PathLike,
    tensor_name: str | None,
    all_tensors: bool,
    all_tensor_names: bool = False,
    count_exclude_pattern: str = "",
) -> None:
    """Print a checkpoint's tensors and the number of their elements.

    An error is printed, too, as in TF.

    Args:
      file_name: the checkpoint's path, as `tf.train.Saver.save` returned it.
      tensor_name: the tensor to print; if empty, all names, types and shapes.
      all_tensors: print all names and values instead.
      all_tensor_names: print all names instead.
      count_exclude_pattern: a regular expression of names not to count.

    Source: python/tools/inspect_checkpoint.py.
    """
    path = os.fsdecode(file_name)
    try:
        _print_tensors(
            path, tensor_name, all_tensors, all_tensor_names, count_exclude_pattern
        )
    except (OpError, ValueError) as error:
        print(error)
        beginning, mark, _ = path.rpartition(".")
        is_part = any(end in path for end in (".index", ".meta", ".data"))
        if isinstance(error, DataLossError) and is_part and mark:
            print(
                "\nThis is one file of a checkpoint. Give the path that all its files "
                f"begin with:\ninspect checkpoint --file_name = {beginning}"
            )


def _print_tensors(
    path: str, name: str | None, values: bool, names: bool, excluded: str
) -> None:
    reader = new_checkpoint_reader(path)
    shapes = reader.get_variable_to_shape_map()
    if values or names:
        for key in sorted(shapes):
            print("tensor_name: ", key)
            if values:
                print(reader.get_tensor(key))
    elif name:
        print("tensor_name: ", name)
        print(reader.get_tensor(name))
    else:
        print(reader.debug_string().decode("utf-8"))
    counted = shapes
    if excluded:
        counted = {k: s for k, s in shapes.items() if not re.search(excluded, k)}
        left_out = [math.prod(s) for k, s in shapes.items() if k not in counted]
        print(
            f"# Excluding {len(left_out)} tensors ({sum(left_out)} params) that match "
            f"{excluded} when counting."
        )
    total = sum(math.prod(shape) for shape in counted.values())
    print(f"# Total number of params: {total}")


def main(arguments: Sequence[str]) -> int:
    """Print the checkpoint that the command line names; the exit status.

    Args:
      arguments: without the program's name.
    """

    def truth(text: str) -> bool:
        return text.lower() == "true"

    parser = argparse.ArgumentParser(prog="inspect_checkpoint", description=__doc__)
    parser.add_argument("--file_name", required=True)
    parser.add_argument("--tensor_name", default="")
    parser.add_argument("--count_exclude_pattern", default="")
    for name in ("all_tensors", "all_tensor_names"):
        parser.add_argument(
            f"--{name}", nargs="?", const=True, type=truth, default=False
        )
    print_tensors_in_checkpoint_file(**vars(parser.parse_args(arguments)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
