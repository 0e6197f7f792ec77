"""The IPython magics, one module per view."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# module -> class; imported when the extension is loaded.
MAGICS = {
    "difference": "DiffMagics",
    "graph": "GraphMagics",
    "growth": "GrowthMagics",
    "optimizing": "OptimizingMagics",
    "placement": "PlacementMagics",
    "run": "RunMagics",
    "schedule": "ScheduleMagics",
    "sessions": "SessionsMagics",
    "status": "StatusMagics",
    "step": "StepMagics",
    "timeline": "TimelineMagics",
}


def register(shell: Any) -> None:
    """Register all magics; doing so again has no effect."""
    for module, name in MAGICS.items():
        shell.register_magics(getattr(import_module(f"{__name__}.{module}"), name))
