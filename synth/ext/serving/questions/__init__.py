"""Questions of one's own: a model answers them by queries on one of several databases."""
