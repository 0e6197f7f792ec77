"""Devices: CPUs, CuPy GPUs and simulated GPUs, their names and their memory."""
