"""The kinds of systems: one module a kind, with its class.

A module is imported to read params, so it imports nothing that is slow to load.
"""
