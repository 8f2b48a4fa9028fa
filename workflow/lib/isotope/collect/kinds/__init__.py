"""The kinds of collections: a module has the class of the kind whose name it bears.

A kind that needs neither keys nor answers of its own to what a kind can do is a folder of
`workflow/sql/collect/` and has no class.
"""
