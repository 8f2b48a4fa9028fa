"""Results sent to a remote, and fetched from there, by the manifests that stand beside them."""
