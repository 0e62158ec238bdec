"""Who speaks to the agent: users by the name that ``users=`` takes, factories ``(options, model) -> User | None``.

``options`` are the keys of the config's section, ``model`` is what ``users.model`` describes; None where no model is asked.
"""

USERS = {
    "scripted": "synth.users.scripted:make",
    "simulated": "synth.users.simulated:make",
    "replay": "synth.users.replay:make",
    "none": "synth.users.none:make",
}
