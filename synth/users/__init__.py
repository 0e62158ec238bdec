"""Who speaks to the agent."""
