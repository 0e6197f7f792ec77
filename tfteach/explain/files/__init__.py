"""What checkpoints and saved models contain."""
