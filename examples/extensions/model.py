"""A model with one sentence: `synth run model.kind=extensions.model:Terse model.options.words=Hi`."""

from synth.model import Completion, Conversation, Model


class Terse(Model, Conversation):
    name, asks_endpoint = "terse", False

    def __init__(self, options, sampling, api_key):
        self.words = options["options"].get("words", "Done.")

    def start(self, task, tools, seed):
        return self

    async def complete(self, messages, on_delta=None):
        return Completion(self.words)
