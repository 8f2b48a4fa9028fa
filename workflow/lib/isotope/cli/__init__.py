"""The command `isotope`."""
