"""Refusals of known servers, and the option that mends each.

Each row was read at its source on its date; :doc:`endpoints` shows the same table. To add one:
write the words by which the refusal is known, and what an operator sets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Dialect:
    """``words`` is a pattern in a refusal of ``servers``, ``advice`` what to do: ``{base}`` is the
    endpoint's address, ``{1}`` the pattern's first group. ``source`` and ``seen`` say where and
    when that was read.
    """

    servers: str
    words: str
    advice: str
    source: str
    seen: str


_CHECK = "synth check WORLD names the keyword and its tool; MCP servers and gateways add some"

DIALECTS = (
    Dialect(
        "vLLM, SGLang, llama.cpp",
        r"tool[ _-]?choice.*(?:requires|--)|tool[ _-]call[ _-]?parser|enable-auto-tool",
        "the server takes no tool calls: start vLLM with --enable-auto-tool-choice and"
        " --tool-call-parser NAME, SGLang with --tool-call-parser NAME, llama.cpp with --jinja",
        "docs.vllm.ai/en/latest/features/tool_calling, docs.sglang.io (tool parser)",
        "2026-11",
    ),
    Dialect(
        "Ollama",
        r"does(?: not|n't) support (?:tool|function)|tools? (?:is|are) not supported|tool use"
        r"|[\"']tools[\"'].{0,60}not permitted|^tools: extra inputs"
        r"|tool_choice\W{1,3}is not supported",
        "this model takes no tools: choose another one, or agent.text_calls=parse with a server"
        " that ignores them",
        "ollama/ollama#14795",
        "2026-03",
    ),
    Dialect(
        "OpenAI, gateways",
        r"\btools\b.{0,40}too long|too many tools|(?:at most|maximum).{0,20}128.{0,20}tools",
        "offer what a task needs (tasks.tools=needed+5), or make a world of fewer tables (synth new"
        " --tables A,B)",
        "anomalyco/opencode#4909",
        "2026-07",
    ),
    Dialect(
        "llama.cpp, LM Studio",
        r"failed to parse grammar|number of repetitions|must start with '\^' and end with",
        f"a tool's schema does not compile: {_CHECK}",
        "ggml-org/llama.cpp#25895",
        "2026-07",
    ),
    Dialect(
        "Gemini, Kimi, OpenAI, Anthropic",
        r"unknown name .{1,60}function_declarations|only allowed for STRING type"
        r"|invalid (?:json )?schema for (?:function|tool)|(?:valid|flavored) json schema"
        r"|json schema is invalid",
        f"a tool's schema has more than this server knows: {_CHECK}",
        "LLM-API-Key-Proxy#86, earendil-works/pi#4138, ComposioHQ/composio#1829",
        "2026-01",
    ),
    Dialect(
        "Gemini",
        r"thought_signature",
        "what the endpoint sends beside its calls goes back to it as it came; a gateway between"
        " drops it: ask Gemini's own address, or update the gateway",
        "labring/aiproxy#450",
        "2025-11",
    ),
    Dialect(
        "OpenAI's and Azure's newer models",
        r"^(?:(?!max_completion_tokens).)*\bmax_tokens\b.*max_completion_tokens",
        "model.options.max_tokens_key=max_completion_tokens sends model.max_tokens by that name",
        "ogx-ai/ogx-client-python#287",
        "2026-07",
    ),
    Dialect(
        "Mistral, older servers",
        r"max_completion_tokens.{0,60}(?:unsupported|not supported|extra|permitted)"
        r"|extra_forbidden.{0,60}max_completion_tokens",
        "model.options.max_tokens_key=max_tokens sends model.max_tokens by that name",
        "editor-code-assistant/eca#231",
        "2025-12",
    ),
    Dialect(
        "DeepSeek, Kimi",
        r"(reasoning_content|(?<=[`'\".])(?:reasoning|thinking)(?=[`'\"])).{0,60}(?:must|missing)"
        r"|missing.{0,20}(reasoning_content)",
        "model.options.echo_reasoning={1} sends the reasoning of earlier turns back",
        "charmbracelet/crush#2696, JohnnyZ93/oai-compatible-copilot#215",
        "2026-04",
    ),
    Dialect(
        "Llama's templates",
        r"single tool-?calls? at once|parallel.{0,20}tool.{0,40}not supported",
        "ask for one call a turn: 'model.extra_body={parallel_tool_calls: false}'",
        "vllm-project/vllm#22218",
        "2025-08",
    ),
    Dialect(
        "any",
        r"model.{0,80}(?:not found|does not exist|not exist)|no such model|unknown model",
        "model.name must be a name that the endpoint serves: GET {base}/models lists them",
        "docs.vllm.ai/en/latest/serving/openai_compatible_server",
        "2026-11",
    ),
    Dialect(
        "any",
        r"unsupported|unrecognized|unknown (?:parameter|field)|extra inputs|not permitted",
        "leave the parameter out: model.temperature, model.top_p, model.max_tokens,"
        " model.send_seed and model.extra_body are what a run adds to a request",
        "mistralai/platform-docs-public#7",
        "2024-01",
    ),
)
"""In the order in which they are tried."""


def advice(status: int, words: str, base: str, echoed: str | None = None) -> str:
    """Return the remedy for a refusal with these words; empty if none is known. ``echoed`` is the
    key under which reasoning was sent back.
    """
    if echoed is not None and re.search(rf"\b{re.escape(echoed)}\b", words):
        return f"model.options.echo_reasoning=null does not send {echoed}"
    if status == 404 and re.search(r"/v\d+\w*/?$", urlsplit(base).path) is None:
        return f"the address has no version at its end; try model.base_url={base.rstrip('/')}/v1"
    for row in DIALECTS:
        if found := re.search(row.words, words, re.IGNORECASE | re.DOTALL):
            named = next((group for group in found.groups() if group), "")
            return row.advice.replace("{base}", base.rstrip("/")).replace("{1}", named)
    if status == 404:
        return "check the base URL, which usually ends in /v1, and the model's name"
    return ""
