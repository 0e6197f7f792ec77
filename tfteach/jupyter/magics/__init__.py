"""The IPython magics, one module per view."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# module -> class; imported when the extension is loaded.
MAGICS = {
    "checkpoint": "CheckpointMagics",
    "cluster": "ClusterMagics",
    "difference": "DiffMagics",
    "elements": "ElementsMagics",
    "graph": "GraphMagics",
    "growth": "GrowthMagics",
    "optimizing": "OptimizingMagics",
    "pipeline": "PipelineMagics",
    "placement": "PlacementMagics",
    "rows": "RowsMagics",
    "run": "RunMagics",
    "schedule": "ScheduleMagics",
    "sessions": "SessionsMagics",
    "sharing": "SharingMagics",
    "status": "TfteachMagics",
    "step": "StepMagics",
    "step_cell": "StepCellMagics",
    "timeline": "TimelineMagics",
    "trace": "TraceMagics",
}


def register(shell: Any) -> None:
    """Register all magics, in place of those registered before."""
    unregister(shell)
    for module, name in MAGICS.items():
        shell.register_magics(getattr(import_module(f"{__name__}.{module}"), name))


def unregister(shell: Any) -> None:
    """Remove all magics."""
    registered = shell.magics_manager.magics
    for magics in [m for m in shell.configurables if _is_ours(m)]:
        shell.configurables.remove(magics)
        for kind, found in magics.magics.items():
            for name, method in found.items():
                if registered[kind].get(name) == method:
                    del registered[kind][name]
        if hasattr(magics, "unload"):
            magics.unload()


def _is_ours(configurable: Any) -> bool:
    return type(configurable).__module__.startswith(f"{__name__}.")
