"""Models behind OpenAI-compatible endpoints.

The ``openai`` package does here what it is good at: base URLs, authentication, headers, Azure's
variant. :mod:`.request_template` asks it once what a request of a model looks like, and no other
module imports it. The requests themselves are exchanged as bytes by aiohttp
(:mod:`.exchange`), the one HTTP stack of a run: the package's parameter transform, response models
and transport cost more the longer a conversation grows and the more requests are in flight.
"""
