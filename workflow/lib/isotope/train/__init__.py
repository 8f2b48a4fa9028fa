"""Models learn from judged pairs."""
