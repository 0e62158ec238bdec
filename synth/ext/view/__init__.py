"""A dataset as one HTML page: transcripts, row changes, verdicts and plots."""
