"""Why answers are wrong."""
