"""Published numbers, recomputed by other people's tools."""
