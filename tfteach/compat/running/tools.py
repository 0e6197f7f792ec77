"""Runs TensorFlow's command-line tools by the names of their modules."""

from __future__ import annotations

import importlib

_PACKAGE = "tensorflow.python.tools"
TOOLS = "freeze_graph", "inspect_checkpoint", "optimize_for_inference"


def run_tool(module: str, arguments: list[str]) -> int | str:
    """Run a tool as `python -m MODULE ARGUMENTS` does where TensorFlow is installed.

    Call `tfteach.install_as_tensorflow()` first.

    Args:
      module: its name, such as "tensorflow.python.tools.freeze_graph".
      arguments: the tool's own.

    Returns:
      The exit status, or a message that there is no such tool.
    """
    known = [f"{_PACKAGE}.{name}" for name in TOOLS]
    if module not in known:
        return f"there is no tool {module}; there are {', '.join(known)}"
    status: int = importlib.import_module(module).main(arguments)
    return status
