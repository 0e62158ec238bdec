"""The words in which a user's request is made, varied by a grammar that is data."""
