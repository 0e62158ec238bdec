"""Questions to a model that writes for a world: each answer is paid for once, within a budget."""
