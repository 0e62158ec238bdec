"""The extension that ``model=openai`` names; importing it does not import the ``openai``
package.
"""

from __future__ import annotations

from synth.core.models.openai.endpoint import Endpoint
from synth.model import Model, Sampling
from synth.plugins import extension, resolve


@extension(Endpoint, asks_endpoint=True)
def make(options: Endpoint, sampling: Sampling, api_key: str | None) -> Model:
    """Build the model of an endpoint. Raises :class:`OperatorError` for options that cannot
    work.
    """
    return resolve("synth.core.models.openai.model:OpenAIModel")(options, sampling, api_key)
