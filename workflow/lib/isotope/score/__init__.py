"""Runs against judgements."""
