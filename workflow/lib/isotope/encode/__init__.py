"""Texts and images to vectors."""
