"""What carries the road: files and tables on disk, runs, vectors, pictures, measures, errors."""
