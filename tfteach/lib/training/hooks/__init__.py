"""Hooks of training loops: what happens before and after each `session.run`.

`session_run_hook.py` defines the interface, the other files `tf.train`'s hooks by
subject.  A MonitoredSession calls them.
"""
