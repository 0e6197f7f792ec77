"""One module per view; each has a TypeScript counterpart in widgets/src/views/."""
