"""How good a model is in a world: figures of a run with intervals, a report and a card."""
