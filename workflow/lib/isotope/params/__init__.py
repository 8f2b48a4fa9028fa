"""params.yaml: read, filled in, checked; and the words of its grid, which import nothing."""

SETTINGS = ("small", "base", "large")
SPLITS = ("train", "validation", "test")
