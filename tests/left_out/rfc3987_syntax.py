"""In its place: jsonschema takes 2 s to import it, for a check that nobody asks for.

Without it `import nbformat` takes 0.3 s instead of 2.6 s of CPU time, in each process.
"""

raise ImportError("left out, see tests/left_out")
