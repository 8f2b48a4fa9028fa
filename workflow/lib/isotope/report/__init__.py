"""The pages that show tables and figures."""
