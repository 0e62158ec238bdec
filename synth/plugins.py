"""The extension points of the pipeline, and what ships for each of them.

To add an extension to a checkout, write a row here. To add one from another distribution, declare
an entry point in the group of its kind. See :mod:`envs.plugins` for how a name is looked up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from envs.plugins import (
    ENGINES,
    TOOLS,
    Extension,
    ExtensionPoint,
    PluginError,
    find_module,
    resolve,
)

__all__ = [
    "ATTACKERS",
    "CALLBACKS",
    "ENGINES",
    "EXPORTERS",
    "EXTENSION_POINTS",
    "FAMILY_READERS",
    "HONEST_AGENTS",
    "MIDDLEWARES",
    "MODELS",
    "QUESTIONS",
    "REWARDS",
    "RUNTIMES",
    "STATISTICS",
    "TASK_GENERATORS",
    "TASK_SOURCES",
    "TASK_TRANSFORMS",
    "TOOLS",
    "USERS",
    "WORLDS",
    "Extension",
    "ExtensionPoint",
    "NoOptions",
    "PluginError",
    "extension",
    "find_module",
    "resolve",
]

_Factory = TypeVar("_Factory", bound=Callable[..., object])


def extension(options: type[object], **traits: object) -> Callable[[_Factory], _Factory]:
    """Decorate a factory function with the options and traits of its extension.

    ``options`` becomes the attribute ``Options``; each of ``traits`` (``asks_endpoint=False``)
    becomes an attribute of its name. A class states the same as class attributes.
    """

    def attach(factory: _Factory) -> _Factory:
        for name, value in {"Options": options, **traits}.items():
            setattr(factory, name, value)
        return factory

    return attach


@dataclass(frozen=True, slots=True)
class NoOptions:
    """Options of an extension that takes none."""


WORLDS = ExtensionPoint("world", "synth.worlds", {})
"""Folders with a world; an entry point names the package that holds the folder's files."""

TASK_SOURCES = ExtensionPoint(
    "task source",
    "synth.task_sources",
    {
        "families": "synth.tasks.families:FamilySource",
        "bird": "synth.text2sql.bird:BirdSource",
        "spider": "synth.text2sql.bird:SpiderSource",
        "actions": "synth.action_lists.source:ActionListSource",
        "questions": "synth.text2sql.attached_questions:QuestionSource",
    },
)
"""Where tasks come from (``tasks=NAME``); the contract is :mod:`synth.tasks.base`."""

TASK_TRANSFORMS = ExtensionPoint("task transform", "synth.task_transforms", {})
"""What changes the tasks of a plan (``tasks.transforms=[NAME, ...]``); the contract is
:mod:`synth.tasks.transform`.
"""

FAMILY_READERS = ExtensionPoint(
    "family reader",
    "synth.family_readers",
    {
        "tasks.yaml": "synth.tasks.yaml.family:read_file",
        "tasks.py": "synth.tasks.python:read_file",
        "questions.json": "synth.text2sql.questions:read_file",
    },
)
"""Files of a world's folder that hold task families; the contract is :mod:`synth.tasks.readers`."""

QUESTIONS = ExtensionPoint(
    "question", "synth.questions", {"sql": "synth.text2sql.question:read_sql"}
)
"""Keys of a family that take the place of gold; the contract is :mod:`synth.tasks.yaml.base`. A
door within the house: the notation of tasks.yaml knows each key.
"""

TASK_GENERATORS = ExtensionPoint(
    "task generator",
    "synth.task_generators",
    {
        "look_up": "synth.generation.patterns.look_up:look_up",
        "look_up_parent": "synth.generation.patterns.look_up:look_up_parent",
        "look_up_far": "synth.generation.patterns.look_up:look_up_far",
        "list_children": "synth.generation.patterns.aggregate:list_children",
        "count_children": "synth.generation.patterns.aggregate:count_children",
        "sum_children": "synth.generation.patterns.aggregate:sum_children",
        "greatest_child": "synth.generation.patterns.aggregate:greatest_child",
        "compare": "synth.generation.patterns.compare:compare",
        "not_found": "synth.generation.patterns.doubt:not_found",
        "ambiguous": "synth.generation.patterns.doubt:ambiguous",
        "change": "synth.generation.patterns.change:change",
        "consent": "synth.generation.patterns.change:consent",
        "conditional": "synth.generation.patterns.change:conditional",
        "move": "synth.generation.patterns.change:move",
        "create": "synth.generation.patterns.create:create",
        "for_each": "synth.generation.patterns.whole_set:for_each",
        "greatest_then_act": "synth.generation.patterns.whole_set:greatest_then_act",
        "several_ends": "synth.generation.patterns.create:several_ends",
        "refuse_state": "synth.generation.patterns.refuse:refuse_state",
        "refuse_check": "synth.generation.patterns.refuse:refuse_check",
        "refuse_taken": "synth.generation.patterns.create:refuse_taken",
    },
)
"""Patterns of task families for `synth new`; the contract is
:mod:`synth.generation.patterns.base`.
"""

MODELS = ExtensionPoint(
    "model",
    "synth.models",
    {
        "scripted": "synth.models.scripted.fallible:make",
        "openai": "synth.models.openai.factory:make",
        "replay": "synth.models.replay.model:make",
        "remote": "synth.serving.live.remote_model:make",
    },
)
"""What continues a conversation (``model=NAME``)."""

USERS = ExtensionPoint(
    "user",
    "synth.users",
    {
        "scripted": "synth.users.scripted.user:make",
        "simulated": "synth.users.simulated.user:make",
        "replay": "synth.users.replay:make",
        "none": "synth.users.none:make",
    },
)
"""Who answers the agent (``users=NAME``)."""

MIDDLEWARES = ExtensionPoint(
    "middleware",
    "synth.middlewares",
    {
        "logging": "synth.agent.middleware.logging:make",
        "approval": "synth.agent.middleware.approval:make",
        "retry": "synth.agent.middleware.retry:make",
        "faults": "synth.agent.middleware.faults:make",
        "compaction": "synth.agent.middleware.compaction:make",
        "offload": "synth.agent.middleware.offload:make",
    },
)
"""What wraps the calls of a rollout (``agent.middleware=[NAME, ...]``)."""

CALLBACKS = ExtensionPoint(
    "callback",
    "synth.callbacks",
    {
        "otel": "synth.telemetry.otel.factory:make",
        "ray": "synth.telemetry.ray_metrics:RayMetrics",
    },
)
"""Who is told about a run while it goes on (``telemetry.callbacks=[NAME, ...]``)."""

ATTACKERS = ExtensionPoint(
    "attacker",
    "synth.attackers",
    {
        "mute": "synth.validation.attacks.dishonest:Mute",
        "liar": "synth.validation.attacks.dishonest:Liar",
        "gossip": "synth.validation.attacks.dishonest:Gossip",
        "phisher": "synth.validation.attacks.dishonest:Phisher",
        "leaker": "synth.validation.attacks.dishonest:Leaker",
        "constant": "synth.validation.attacks.dishonest:Constant",
        "false_act": "synth.validation.attacks.dishonest:FalseAct",
        "embroiderer": "synth.validation.attacks.dishonest:Embroiderer",
        "snoop": "synth.validation.attacks.dishonest:Snoop",
        "bare_consent": "synth.validation.attacks.consent:BareConsent",
        "proposes_another": "synth.validation.attacks.consent:ProposesAnother",
    },
)
"""Dishonest agents that `synth check` plays; the contract is
:mod:`synth.validation.attacks.base`.
"""

REWARDS = ExtensionPoint(
    "reward",
    "synth.rewards",
    {
        "state": "synth.rewards.state.verifier:StateVerifier",
        "answer": "synth.rewards.answer:AnswerVerifier",
        "no_write_before": "synth.rewards.process_gates:NoWriteBefore",
        "required_calls": "synth.rewards.process_gates:RequiredCalls",
        "forbidden_calls": "synth.rewards.process_gates:ForbiddenCalls",
        "says": "synth.rewards.reply:SaysVerifier",
        "reply": "synth.rewards.reply:ReplyVerifier",
        "reads_only": "synth.rewards.least_privilege:ReadsOnly",
        "sql": "synth.text2sql.verifier:SqlVerifier",
    },
)
"""Gates and scores that a family's ``gates`` name."""

STATISTICS = ExtensionPoint(
    "statistics",
    "synth.statistics",
    {"sql": "synth.text2sql.scores:SqlScores", "gates": "synth.rewards.gate_costs:GateCosts"},
)
"""Figures about the rows of a dataset; the contract is :mod:`synth.dataset.statistics`. A door
within the house: only what ships is asked, so that counting reads no metadata.
"""

HONEST_AGENTS = ExtensionPoint(
    "honest agent",
    "synth.honest_agents",
    {
        "terse": "synth.validation.honest.wording:Terse",
        "reads_more": "synth.validation.honest.reading:ReadsMore",
        "reads_otherwise": "synth.validation.honest.reading:ReadsInAnotherOrder",
        "looks_up_otherwise": "synth.validation.honest.lookups:LooksUpOtherwise",
        "writes_otherwise": "synth.validation.honest.writing:WritesInAnotherOrder",
        "corrects_itself": "synth.validation.honest.writing:CorrectsItself",
        "narrates": "synth.validation.honest.talking:Narrates",
        "greets": "synth.validation.honest.talking:Greets",
        "asks_generically": "synth.validation.honest.talking:AsksGenerically",
        "asks_one_by_one": "synth.validation.honest.talking:AsksOneByOne",
        "asks_at_once": "synth.validation.honest.talking:AsksAtOnce",
        "asks_again": "synth.validation.honest.talking:AsksAgain",
        "confirms_each_write": "synth.validation.honest.talking:ConfirmsEachWrite",
        "confirms_in_markdown": "synth.validation.honest.talking:ConfirmsInMarkdown",
        "confirms_in_other_forms": "synth.validation.honest.talking:ConfirmsInOtherForms",
        "reads_back": "synth.validation.honest.talking:ReadsBack",
        "offers_more": "synth.validation.honest.talking:OffersMore",
        "says_goodbye": "synth.validation.honest.talking:SaysGoodbye",
    },
)
"""Agents that do the work in another style than gold, and must win (``synth check``)."""

EXPORTERS = ExtensionPoint(
    "exporter",
    "synth.exporters",
    {
        "trl-sft": "synth.dataset.exporters.trl_sft:TrlSft",
        "trl-dpo": "synth.dataset.exporters.trl_dpo:TrlDpo",
        "trl-kto": "synth.dataset.exporters.trl_kto:TrlKto",
        "trl-grpo": "synth.dataset.exporters.trl_grpo:TrlGrpo",
        "openai-jsonl": "synth.dataset.exporters.openai_jsonl:OpenAIJsonl",
        "sharegpt": "synth.dataset.exporters.sharegpt:ShareGPT",
        "llamafactory": "synth.dataset.exporters.sharegpt:LlamaFactory",
        "axolotl": "synth.dataset.exporters.axolotl:Axolotl",
        "verl": "synth.dataset.exporters.verl:Verl",
        "verl-sft": "synth.dataset.exporters.verl:VerlSft",
        "nemo-gym": "synth.dataset.exporters.nemo_gym:NemoGym",
        "tokens": "synth.dataset.exporters.tokens:Tokens",
        "hermes": "synth.dataset.exporters.hermes:Hermes",
    },
)
"""Forms of a dataset for trainers and services (``synth export --to NAME``)."""

RUNTIMES = ExtensionPoint(
    "runtime",
    "synth.runtimes",
    {
        "auto": "synth.runner.runtimes.auto:AutoRuntime",
        "ray": "synth.runner.runtimes.ray:RayRuntime",
        "inline": "synth.runner.runtimes.inline:InlineRuntime",
    },
)
"""Where workers live (``runtime=NAME``)."""

EXTENSION_POINTS = (
    WORLDS,
    TOOLS,
    ENGINES,
    TASK_SOURCES,
    TASK_TRANSFORMS,
    FAMILY_READERS,
    TASK_GENERATORS,
    MODELS,
    USERS,
    MIDDLEWARES,
    CALLBACKS,
    REWARDS,
    HONEST_AGENTS,
    EXPORTERS,
    RUNTIMES,
)
