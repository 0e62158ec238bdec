"""Names of attributes, spans and metrics: the semantic conventions for generative AI, and ours.

The conventions are in development and left the package ``opentelemetry-semantic-conventions`` for a
repository of their own, so their names stand here; a test compares them with the package's last
ones. Names of ours begin with ``synth.``.
"""

from __future__ import annotations

from typing import Final

SCHEMA_URL: Final = "https://opentelemetry.io/schemas/1.44.0"
SCOPE: Final = "synth"

OPERATION: Final = "gen_ai.operation.name"
PROVIDER: Final = "gen_ai.provider.name"
AGENT: Final = "gen_ai.agent.name"
WORKFLOW: Final = "gen_ai.workflow.name"
CONVERSATION: Final = "gen_ai.conversation.id"
REQUEST_MODEL: Final = "gen_ai.request.model"
REQUEST_TEMPERATURE: Final = "gen_ai.request.temperature"
REQUEST_TOP_P: Final = "gen_ai.request.top_p"
REQUEST_MAX_TOKENS: Final = "gen_ai.request.max_tokens"
FINISH_REASONS: Final = "gen_ai.response.finish_reasons"
INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
CACHED_TOKENS: Final = "gen_ai.usage.cache_read.input_tokens"
REASONING_TOKENS: Final = "gen_ai.usage.reasoning.output_tokens"
TOKEN_TYPE: Final = "gen_ai.token.type"  # noqa: S105 - the name of an attribute
TOOL_NAME: Final = "gen_ai.tool.name"
TOOL_TYPE: Final = "gen_ai.tool.type"
TOOL_CALL_ID: Final = "gen_ai.tool.call.id"
TOOL_ARGUMENTS: Final = "gen_ai.tool.call.arguments"
TOOL_RESULT: Final = "gen_ai.tool.call.result"
INPUT_MESSAGES: Final = "gen_ai.input.messages"
OUTPUT_MESSAGES: Final = "gen_ai.output.messages"
EVALUATION_EVENT: Final = "gen_ai.evaluation.result"
EVALUATION_NAME: Final = "gen_ai.evaluation.name"
EVALUATION_SCORE: Final = "gen_ai.evaluation.score.value"
ERROR_TYPE: Final = "error.type"

CHAT: Final = "chat"
EXECUTE_TOOL: Final = "execute_tool"
INVOKE_AGENT: Final = "invoke_agent"
INVOKE_WORKFLOW: Final = "invoke_workflow"

RUN_ID: Final = "synth.run.id"
TASK: Final = "synth.task.id"
JOB: Final = "synth.job.index"
FAMILY: Final = "synth.task.family"
REWARD: Final = "synth.reward"
OUTCOME: Final = "synth.outcome"
STOP_REASON: Final = "synth.stop_reason"
COST: Final = "synth.cost_usd"
ROWS_CHANGED: Final = "synth.tool.rows_changed"
ANSWERED_BY: Final = "synth.tool.answered_by"
PLANNED: Final = "synth.run.planned"
STATUS: Final = "synth.run.status"

OPERATION_DURATION: Final = "gen_ai.client.operation.duration"
TOKEN_USAGE: Final = "gen_ai.client.token.usage"  # noqa: S105 - the name of a metric
ROLLOUTS: Final = "synth.rollouts"
ROLLOUT_ERRORS: Final = "synth.rollout.errors"
REWARDS: Final = "synth.rollout.reward"
TOKENS: Final = "synth.tokens"
MONEY: Final = "synth.cost"
TOOL_CALLS: Final = "synth.tool.calls"
TOOL_ERRORS: Final = "synth.tool.errors"
WAITING: Final = "synth.rollouts.waiting"

DURATION_BOUNDS: Final = (
    *(0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56),
    *(5.12, 10.24, 20.48, 40.96, 81.92),
)
TOKEN_BOUNDS: Final = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576)
REWARD_BOUNDS: Final = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.999)
"""Boundaries of the histograms' buckets; the conventions give the first two."""
