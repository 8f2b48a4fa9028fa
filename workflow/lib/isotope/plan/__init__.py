"""What rules ask of the params."""
