"""The commands of this capability."""
