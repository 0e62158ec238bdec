"""Endpoints that speak OpenAI's Responses or Anthropic's Messages: ``model=responses`` and
``model=anthropic``.

Each is :class:`~synth.core.models.openai.model.OpenAIModel` with requests and answers translated
from and to chat completions, so that retries, limits, errors and recorded rows are the same. What
an endpoint wants back (signed thoughts, encrypted reasoning) travels as a field that only the
endpoint it came from gets.
"""
