"""A graph at rest: its ops, scopes, names, collections and constants."""
