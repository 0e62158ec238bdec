"""A model that plays the user."""
