"""What others load: collections, runs, submissions."""
