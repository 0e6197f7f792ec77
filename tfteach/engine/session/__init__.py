"""Sessions: fetches and feeds in, values out, the state of variables in between.

Read base_session.py first, then fetches.py and feeds.py.
"""
