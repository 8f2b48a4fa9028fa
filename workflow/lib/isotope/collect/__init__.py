"""Texts, images and judgements of a collection."""
