"""Where ops run, what is copied between devices, and what a card does."""
