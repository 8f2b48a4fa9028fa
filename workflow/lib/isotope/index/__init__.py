"""Indexes over words and over vectors."""
