"""A world over the Model Context Protocol: the only place that imports its SDK."""
