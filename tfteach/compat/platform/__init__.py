"""Script utilities around a model: flags, the entry point, logging, files."""
