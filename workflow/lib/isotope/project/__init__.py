"""Texts of WIT, or labels, find their sections in a snapshot."""
