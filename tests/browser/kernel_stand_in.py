"""What Jupyter takes for a kernel's process: see `kernel_forks.py`."""

import json
import os
import signal
import socket
import sys

address, *argv = sys.argv[1:]
kernel = socket.socket(socket.AF_UNIX)
kernel.connect(address)
signal.signal(signal.SIGINT, lambda number, _: kernel.send(bytes([number])))
asked = {"argv": argv, "environment": dict(os.environ), "folder": os.getcwd()}
kernel.sendall(json.dumps(asked).encode() + b"\n")
kernel.recv(1)  # returns when the kernel has ended
