"""What suggestions are worth: measured on judged sections, by later snapshots and by people."""
