"""Other words for the users of a world, which a model writes: what is kept says the same."""
