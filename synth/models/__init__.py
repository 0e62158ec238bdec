"""Models by the name that ``model=`` takes: factories ``(options, sampling, api_key) -> Model``."""

MODELS = {"scripted": "synth.models.erring:make", "openai": "synth.models.openai:make"}
