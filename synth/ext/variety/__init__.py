"""Tasks in many words and combinations: composition, wording, near-duplicates, held-out words."""
