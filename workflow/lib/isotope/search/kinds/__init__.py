"""The kinds of retrieval systems: a module has the class of the kind whose name it bears.

A module is imported whenever params are read, so it imports nothing that is slow to load.
"""
