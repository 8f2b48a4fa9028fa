"""The embedded snapshot."""
