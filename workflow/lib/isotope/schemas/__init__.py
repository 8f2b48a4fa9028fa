"""Columns of the tables that phases hand on, a module a phase; functions lie elsewhere."""
