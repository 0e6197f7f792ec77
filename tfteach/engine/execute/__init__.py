"""From a planned step to results: instructions, their loop, generated source."""
