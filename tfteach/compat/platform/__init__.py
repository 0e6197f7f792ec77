"""What surrounds a model in a script: flags, the entry point, logging, files."""
