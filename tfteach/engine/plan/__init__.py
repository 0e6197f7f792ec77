"""Planning a run: the ops it needs, their order, devices and copies."""
