"""params.yaml: read, filled in, checked."""
