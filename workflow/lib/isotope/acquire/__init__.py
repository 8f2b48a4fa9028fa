"""Upstream files, fetched and checked."""
