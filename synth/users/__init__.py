"""Who speaks to the agent: users by the name that ``users=`` takes, factories ``(options) -> User | None``."""

USERS = {"scripted": "synth.users.scripted:make", "none": "synth.users.none:make"}
