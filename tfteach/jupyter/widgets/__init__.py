"""One module per view; each has its TypeScript twin in widgets/src/."""
