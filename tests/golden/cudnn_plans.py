"""What cuDNN itself plans for an H200, asked by our code; no card is needed.

cuDNN plans for a card that is only described.  Its libraries have to load: a directory
on LD_LIBRARY_PATH with a libcuda.so.1 of a few functions that fail does for the driver.
With nvidia-cudnn-frontend 1.16 (later ones ask for a card) and nvidia-cudnn-cu13:

    LD_LIBRARY_PATH=STUB:SITE/nvidia/cu13/lib:SITE/nvidia/cudnn/lib \\
        python -m tests.golden.cudnn_plans

It writes the workspace of each convolution in bytes, or why there is no plan.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tfteach.ops.windows import conv_by_cudnn
from tfteach.ops.windows import conv_geometry as geometry

# What cuDNN knows of a card.
H200 = {
    "deviceName": "NVIDIA H200", "deviceVer": 900, "driverVer": 13000,
    "cudaDeviceId": 0, "multiProcessorCount": 132, "smCountOrigin": 0,
    "maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64],
    "regsPerBlock": 65536, "smClockRateKHz": 1980000, "memClockRateKHz": 3201000,
    "memoryBusWidth": 6144, "l2CacheSize": 62914560, "warpSize": 32,
    "maxSharedMemoryPerBlock": 49152, "maxSharedMemoryPerBlockOptin": 232448,
    "reservedSharedMemoryPerBlock": 1024, "oversizedSharedMemoryPerBlock": 0,
    "maxRegistersPerSM": 65536, "maxCtasPerSM": 32, "maxThreadsPerBlock": 1024,
    "maxThreadsPerSM": 2048, "pciDeviceId": 0, "isTccDriver": 0,
    "supportCoopLaunch": 1, "totalGlobalMem": 150754820096,
}  # fmt: skip
# Input and filter (channels last), strides, dilations, padding.
SIZES: dict[str, tuple[Any, ...]] = {
    "LeNet, first": ((128, 28, 28, 1), (5, 5, 1, 32), (1, 1), (1, 1), "SAME"),
    "LeNet, second": ((128, 14, 14, 32), (5, 5, 32, 64), (1, 1), (1, 1), "SAME"),
    "ResNet, first": ((8, 224, 224, 3), (7, 7, 3, 64), (2, 2), (1, 1), "SAME"),
    "pointwise": ((8, 14, 14, 64), (1, 1, 64, 256), (1, 1), (1, 1), "VALID"),
    "each third": ((2, 9, 9, 3), (1, 1, 3, 4), (3, 3), (1, 1), "VALID"),
    "uneven": ((2, 9, 8, 3), (4, 2, 3, 5), (1, 3), (1, 1), "SAME"),
    "dilated": ((2, 20, 20, 16), (3, 3, 16, 8), (1, 1), (2, 3), "SAME"),
    "dilated with strides": ((2, 20, 20, 16), (3, 3, 16, 8), (2, 2), (2, 2), "VALID"),
    "large window": ((2, 40, 40, 3), (33, 33, 3, 4), (1, 1), (1, 1), "SAME"),
    "wide padding": ((1, 8, 8, 3), (2, 2, 3, 4), (1, 1), (1, 1), ((7, 6), (0, 9))),
    "cropped": ((1, 8, 8, 3), (2, 2, 3, 4), (1, 1), (1, 1), ((-1, 0), (0, 0))),
    "depthwise": ((8, 28, 28, 32), (3, 3, 1, 32), (1, 1), (1, 1), "SAME"),
    "depthwise, twice": ((8, 28, 28, 32), (3, 3, 1, 64), (2, 2), (1, 1), "SAME"),
    "volumes": ((2, 6, 9, 9, 8), (3, 3, 3, 8, 4), (1, 2, 1), (1, 1, 1), "SAME"),
    "lines": ((2, 9, 8), (3, 8, 4), (1,), (1,), "SAME"),
}
DTYPES = "float16 bfloat16 float32 float64 int32".split()
RESULTS = conv_by_cudnn.OUTPUT, conv_by_cudnn.INPUT, conv_by_cudnn.FILTER


def convolutions() -> dict[str, conv_by_cudnn.Convolution]:
    """What to ask, by name."""
    found = {}
    for name, (x, filters, strides, dilations, padding) in SIZES.items():
        pads = () if isinstance(padding, str) else padding
        windows = geometry.lay(
            x[1:-1],
            filters[:-2],
            strides,
            dilations,
            "VALID" if pads else padding,
            pads,
        )
        y = (x[0], *windows.out, filters[-1])
        for dtype in DTYPES if name.startswith("LeNet") else DTYPES[2:3]:
            for last in (True, False):
                for result in RESULTS:
                    layout = "channels last" if last else "channels first"
                    found[f"{name}, {dtype}, {layout}: {result}"] = (
                        conv_by_cudnn.Convolution(
                            result, dtype, last, conv_by_cudnn.numbered(x, False),
                            conv_by_cudnn.numbered(filters, True),
                            conv_by_cudnn.numbered(y, False), windows,
                        )
                    )  # fmt: skip
    return found


def main() -> None:
    import cudnn

    properties = cudnn.create_device_properties(
        json.dumps(H200 | {"version": cudnn.backend_version()})
    )
    real = cudnn.pygraph

    def pygraph(handle: Any, **named: Any) -> Any:
        return real(device_property=properties, **named)

    cudnn.pygraph, cudnn.create_handle = pygraph, lambda: None
    device = SimpleNamespace(compute_capability="90")
    xp: Any = SimpleNamespace(cuda=SimpleNamespace(Device=lambda: device))
    planner = conv_by_cudnn._Cudnn(xp)
    found: dict[str, Any] = {
        "cudnn": cudnn.backend_version_string(), "front end": cudnn.__version__
    }  # fmt: skip
    for name, convolution in convolutions().items():
        plan = planner.plan(convolution)
        found[name] = planner.plans[convolution] if plan is None else plan[1]
    with Path(__file__).with_suffix(".json").open("w") as file:
        file.write(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
