"""Reading of what people write: words, and numbers, dates and amounts in any form. English."""
