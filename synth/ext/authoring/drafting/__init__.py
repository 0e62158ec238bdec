"""Task families that a model writes, proved before they are kept."""
