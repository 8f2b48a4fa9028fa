"""People judge answers."""
