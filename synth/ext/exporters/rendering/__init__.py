"""Chat templates: rows are rendered, and their calls read back, before they are exported."""
