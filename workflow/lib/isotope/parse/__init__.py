"""WIT and snapshots of wikis to tables."""
