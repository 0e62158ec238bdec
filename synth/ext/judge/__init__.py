"""A model that judges the statements of a reply."""
