"""Models by the name that ``model=`` takes: factories ``(options, sampling, api_key) -> Model``."""

MODELS = {"scripted": "synth.models.scripted:make", "openai": "synth.models.openai:make"}
