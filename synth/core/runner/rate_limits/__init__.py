"""Rate limits of a run at an endpoint."""
