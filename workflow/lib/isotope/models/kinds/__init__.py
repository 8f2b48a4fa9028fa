"""The kinds of models: one module a kind, with its class and what loads its encoder.

A module is imported to read params, so it imports torch inside functions only.
"""
