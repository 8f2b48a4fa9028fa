"""Systems answer queries."""
