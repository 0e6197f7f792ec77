"""The golden graphs as rows, for the front end's tests.

`python -m tests.jupyter.fixtures` writes them anew; test_fixtures.py holds them fresh.
"""

from __future__ import annotations

import json
from pathlib import Path

from google.protobuf import text_format
from tensorboard.compat.proto.graph_pb2 import GraphDef

from tfteach.explain.graphs.graph_rows import rows_of_graph_def

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "graphs"
FIXTURES = ROOT / "widgets" / "test" / "fixtures"
NAMES = ("linear_regression", "softmax_regression_adam", "while_loop")


def golden(name: str) -> GraphDef:
    """A GraphDef that real TensorFlow 1.15 built."""
    graph_def = GraphDef()
    text_format.Parse((GOLDEN / f"{name}.pbtxt").read_text(), graph_def)
    return graph_def


def fixture_text(name: str) -> str:
    """Its rows as JSON, one a line, without attributes."""
    lines = []
    for row in rows_of_graph_def(golden(name)):
        more = {key: value for key, value in row.more.items() if key != "attrs"}
        lines.append(json.dumps([*row[:5], more], ensure_ascii=False))
    return "[\n" + ",\n".join(lines) + "\n]\n"


if __name__ == "__main__":
    for name in NAMES:
        (FIXTURES / f"{name}.json").write_text(fixture_text(name))
