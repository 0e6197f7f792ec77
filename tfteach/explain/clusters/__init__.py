"""The tasks of a cluster, what each of them does, and their messages."""
