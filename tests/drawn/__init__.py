"""Drawn input: schemata, rows and questions that nobody here wrote."""
