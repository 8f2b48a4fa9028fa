"""The public API: functions over tables, for notebooks and programs of others (docs/api.md).

They are thin: what they compute is that of the phases, on tables that are handed over instead of
files of a project. `isotope` has their names.
"""
