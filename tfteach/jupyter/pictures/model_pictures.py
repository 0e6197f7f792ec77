"""Objects that cells show as pictures without being views."""

from __future__ import annotations

from typing import Any

_SHOWN = {
    "tfteach.lib.distributed_runtime.simulated.simulated_cluster": "SimulatedCluster",
    "tfteach.lib.distributed_runtime.simulated.stale_gradients": "LossCurves",
}


def register(shell: Any) -> None:
    """Let the cells of a shell show them; their modules are imported when they are."""
    formatter = shell.display_formatter.mimebundle_formatter
    for module, name in _SHOWN.items():
        formatter.for_type_by_name(module, name, _bundle)


def unregister(shell: Any) -> None:
    """Undo `register`."""
    formatter = shell.display_formatter.mimebundle_formatter
    for module, name in _SHOWN.items():
        formatter.pop(f"{module}.{name}", None)


def _bundle(shown: Any, **_: Any) -> dict[str, str]:
    from tfteach.jupyter.pictures.simulated_cluster_svg import model_bundle

    return model_bundle(shown)
