"""The kinds of collections that are more than their queries: one module a kind, with its class."""
