"""The Hugging Face Hub: a dataset's card, what may be published, and the way there and back."""
