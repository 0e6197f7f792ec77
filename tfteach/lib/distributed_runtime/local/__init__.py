"""The tasks of a cluster as processes of this machine."""
