"""Reports for people: the summary of a dataset as plain data, and its tables."""
