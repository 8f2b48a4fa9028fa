"""Kinds of collections that other papers have: a module has the class of the kind it is named by.

The queries of a kind stand in sql/collect/<kind> of the package.
"""
