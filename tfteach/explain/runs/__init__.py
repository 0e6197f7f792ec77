"""What a run executes, why, in which order, and what it leaves in the session."""
