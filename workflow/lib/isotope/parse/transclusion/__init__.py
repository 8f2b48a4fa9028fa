"""What a wiki's templates show, read from their pages without running any of them.

`reading` turns the pages of Template: and Module: into the table `schemas.TEMPLATES`, and `known`
has of that table what the reading of a page asks for. `docs/parse.md` tells how templates are read.
"""
