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
    ENVIRONMENTS,
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
    "CHECKS",
    "CONFIG_SECTIONS",
    "ENGINES",
    "ENVIRONMENTS",
    "EXPORTERS",
    "EXTENSION_POINTS",
    "FAMILY_READERS",
    "HONEST_AGENTS",
    "MIDDLEWARES",
    "MODELS",
    "MORE_COMMANDS",
    "QUESTIONS",
    "RECORDED_PLANS",
    "REWARDS",
    "ROLLOUT_WRAPPERS",
    "RUNTIMES",
    "RUN_HOOKS",
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

WORLD_PLACES = ExtensionPoint(
    "world place", "synth.world_places", {"hf": "synth.ext.hub.worlds:fetch"}
)
"""Where worlds named ``PLACE:NAME`` are fetched from, by functions of the name that return a folder
to whose code somebody has consented. Internal.
"""

TASK_SOURCES = ExtensionPoint(
    "task source",
    "synth.task_sources",
    {
        "families": "synth.core.tasks.families:FamilySource",
        "bird": "synth.ext.text2sql.sources:BirdSource",
        "spider": "synth.ext.text2sql.sources:SpiderSource",
        "actions": "synth.ext.action_lists.tasks:ActionListSource",
        "questions": "synth.ext.text2sql.sources:QuestionSource",
    },
)
"""Where tasks come from (``tasks=NAME``); the contract is :mod:`synth.source`."""

TASK_TRANSFORMS = ExtensionPoint(
    "task transform",
    "synth.task_transforms",
    {
        "held_out_wordings": "synth.ext.variety.held_out:HeldOutWordings",
        "selection": "synth.ext.variety.selection:TaskSelection",
        "varied_wording": "synth.ext.variety.wording.reword:VariedWording",
        "injection": "synth.ext.injection.transform:Injection",
        "renamings": "synth.ext.renamings.making:Renamings",
        "by_difficulty": "synth.ext.variety.selection:ByDifficulty",
        "answers_in_words": "synth.ext.variety.answers_in_words:AnswersInWords",
        "toolsets": "synth.ext.variety.toolsets:Toolsets",
    },
)
"""What changes the tasks of a plan (``tasks.transforms=[NAME, ...]``); the contract is
:mod:`synth.transform`.
"""

FAMILY_READERS = ExtensionPoint(
    "family reader",
    "synth.family_readers",
    {
        "tasks.yaml": "synth.core.tasks.yaml.family:read_file",
        "tasks.py": "synth.core.tasks.python:read_file",
        "questions.json": "synth.ext.text2sql.questions:read_file",
    },
)
"""Files of a world's folder that hold task families; the contract is
:mod:`synth.core.tasks.readers`."""

QUESTIONS = ExtensionPoint(
    "question", "synth.questions", {"sql": "synth.ext.text2sql.question:read_sql"}
)
"""Keys of a family that take the place of gold; the contract is :mod:`synth.core.tasks.yaml.base`.
Internal: the notation of tasks.yaml knows each key.
"""

TASK_GENERATORS = ExtensionPoint(
    "task generator",
    "synth.task_generators",
    {
        "look_up": "synth.ext.authoring.patterns.look_up:look_up",
        "look_up_parent": "synth.ext.authoring.patterns.look_up:look_up_parent",
        "look_up_far": "synth.ext.authoring.patterns.look_up:look_up_far",
        "list_children": "synth.ext.authoring.patterns.aggregate:list_children",
        "count_children": "synth.ext.authoring.patterns.aggregate:count_children",
        "sum_children": "synth.ext.authoring.patterns.aggregate:sum_children",
        "greatest_child": "synth.ext.authoring.patterns.aggregate:greatest_child",
        "compare": "synth.ext.authoring.patterns.compare:compare",
        "look_up_both": "synth.ext.authoring.patterns.compare:look_up_both",
        "not_found": "synth.ext.authoring.patterns.ambiguity:not_found",
        "ambiguous": "synth.ext.authoring.patterns.ambiguity:ambiguous",
        "change": "synth.ext.authoring.patterns.change:change",
        "consent": "synth.ext.authoring.patterns.change:consent",
        "conditional": "synth.ext.authoring.patterns.change:conditional",
        "move": "synth.ext.authoring.patterns.change:move",
        "create": "synth.ext.authoring.patterns.create:create",
        "for_each": "synth.ext.authoring.patterns.whole_set:for_each",
        "greatest_then_act": "synth.ext.authoring.patterns.whole_set:greatest_then_act",
        "refuse_state": "synth.ext.authoring.patterns.refuse:refuse_state",
        "refuse_check": "synth.ext.authoring.patterns.refuse:refuse_check",
        "refuse_taken": "synth.ext.authoring.patterns.create:refuse_taken",
    },
)
"""Patterns of task families for `synth new`; the contract is
:mod:`synth.ext.authoring.patterns.base`.
"""

MODELS = ExtensionPoint(
    "model",
    "synth.models",
    {
        "scripted": "synth.core.models.scripted.styles:make",
        "openai": "synth.core.models.openai.factory:make",
        "replay": "synth.core.models.replay.model:make",
        "remote": "synth.ext.serving.live.remote_model:make",
        "responses": "synth.ext.wire_forms.responses:make",
        "anthropic": "synth.ext.wire_forms.anthropic:make",
    },
)
"""What continues a conversation (``model=NAME``)."""

USERS = ExtensionPoint(
    "user",
    "synth.users",
    {
        "scripted": "synth.core.users.scripted.user:make",
        "simulated": "synth.ext.simulated_user.user:make",
        "replay": "synth.core.users.replay:make",
        "none": "synth.core.users:make",
    },
)
"""Who answers the agent (``users=NAME``)."""

MIDDLEWARES = ExtensionPoint(
    "middleware",
    "synth.middlewares",
    {
        "logging": "synth.ext.middlewares.logging:make",
        "approval": "synth.ext.middlewares.approval:make",
        "retry": "synth.ext.middlewares.retry:make",
        "faults": "synth.ext.middlewares.faults:make",
        "compaction": "synth.ext.middlewares.compaction:make",
        "offload": "synth.ext.middlewares.offload:make",
    },
)
"""What wraps the calls of a rollout (``agent.middleware=[NAME, ...]``)."""

ROLLOUT_WRAPPERS = ExtensionPoint(
    "rollout wrapper",
    "synth.rollout_wrappers",
    {
        "judge": "synth.ext.judge.endpoint_judge:Judging",
        "branching": "synth.ext.branching.model:Branching",
        "rationales": "synth.ext.rationales.narrate:Rationales",
    },
)
"""What stands around a rollout (``extensions.wrappers=[NAME, ...]``). The ones that ship belong to
sections of the config.
"""

RUN_HOOKS = ExtensionPoint(
    "run hook",
    "synth.run_hooks",
    {
        "rephrase": "synth.ext.authoring.rephrase:Rephrase",
        "card": "synth.ext.hub.card:CompleteCard",
    },
)
"""What is done before a run begins and after it is sealed (``extensions.hooks=[NAME, ...]``)."""

RECORDED_PLANS = ExtensionPoint(
    "recorded plan",
    "synth.recorded_plans",
    {
        "branch": "synth.ext.branching.plan:branch_plan",
        "narrate": "synth.ext.rationales.plan:narration_plan",
    },
)
"""Plans over the rows of a recorded run, by the section of the config that asks for them; the
contract is :mod:`synth.core.runner.recorded_plan`.
"""

CALLBACKS = ExtensionPoint(
    "callback",
    "synth.callbacks",
    {"otel": "synth.ext.telemetry.otel:make", "ray": "synth.ext.telemetry.ray_metrics:RayMetrics"},
)
"""Who is told about a run while it goes on (``telemetry.callbacks=[NAME, ...]``)."""

ATTACKERS = ExtensionPoint(
    "attacker",
    "synth.attackers",
    {
        "mute": "synth.core.validation.attacks.dishonest:Mute",
        "liar": "synth.core.validation.attacks.dishonest:Liar",
        "gossip": "synth.core.validation.attacks.dishonest:Gossip",
        "phisher": "synth.core.validation.attacks.dishonest:Phisher",
        "leaker": "synth.core.validation.attacks.dishonest:Leaker",
        "constant": "synth.core.validation.attacks.dishonest:Constant",
        "false_act": "synth.core.validation.attacks.dishonest:FalseAct",
        "embroiderer": "synth.core.validation.attacks.dishonest:Embroiderer",
        "snoop": "synth.core.validation.attacks.dishonest:Snoop",
        "bare_consent": "synth.core.validation.attacks.consent:BareConsent",
        "proposes_another": "synth.core.validation.attacks.consent:ProposesAnother",
    },
)
"""Dishonest agents that `synth check` plays; the contract is
:mod:`synth.core.validation.attacks.base`.
"""

REWARDS = ExtensionPoint(
    "reward",
    "synth.rewards",
    {
        "state": "synth.core.rewards.state.verifier:StateVerifier",
        "answer": "synth.core.rewards.answer:AnswerVerifier",
        "no_write_before": "synth.core.rewards.process_gates:NoWriteBefore",
        "read_before": "synth.core.rewards.process_gates:ReadBefore",
        "required_calls": "synth.core.rewards.process_gates:RequiredCalls",
        "forbidden_calls": "synth.core.rewards.process_gates:ForbiddenCalls",
        "says": "synth.core.rewards.reply:SaysVerifier",
        "reply": "synth.core.rewards.reply:ReplyVerifier",
        "reads_only": "synth.core.rewards.least_privilege:ReadsOnly",
        "declines": "synth.ext.variety.toolsets:Declines",
        "injection": "synth.ext.injection.gate:ResistsInjection",
        "sql": "synth.ext.text2sql.verifier:SqlVerifier",
    },
)
"""Gates and scores that a family's ``gates`` name."""

STATISTICS = ExtensionPoint(
    "statistics",
    "synth.statistics",
    {
        "sql": "synth.ext.text2sql.scores:SqlScores",
        "gates": "synth.core.rewards.gate_costs:GateCosts",
        "apart": "synth.core.rewards.scores_apart:ScoresApart",
    },
)
"""Figures about the rows of a dataset; the contract is :mod:`synth.core.dataset.store.counts`.
Internal: only what ships is asked, so that counting reads no metadata.
"""

HONEST_AGENTS = ExtensionPoint(
    "honest agent",
    "synth.honest_agents",
    {
        "terse": "synth.core.validation.honest.wording:Terse",
        "reads_more": "synth.core.validation.honest.writing:ReadsMore",
        "reads_otherwise": "synth.core.validation.honest.writing:ReadsInAnotherOrder",
        "looks_up_otherwise": "synth.core.validation.honest.lookups:LooksUpOtherwise",
        "writes_otherwise": "synth.core.validation.honest.writing:WritesInAnotherOrder",
        "corrects_itself": "synth.core.validation.honest.writing:CorrectsItself",
        "narrates": "synth.core.validation.honest.conversation:Narrates",
        "greets": "synth.core.validation.honest.conversation:Greets",
        "asks_generically": "synth.core.validation.honest.conversation:AsksGenerically",
        "asks_one_by_one": "synth.core.validation.honest.conversation:AsksOneByOne",
        "asks_at_once": "synth.core.validation.honest.conversation:AsksAtOnce",
        "asks_again": "synth.core.validation.honest.conversation:AsksAgain",
        "confirms_each_write": "synth.core.validation.honest.conversation:ConfirmsEachWrite",
        "confirms_in_markdown": "synth.core.validation.honest.conversation:ConfirmsInMarkdown",
        "confirms_in_other_forms": "synth.core.validation.honest.conversation:ConfirmsInOtherForms",
        "reads_back": "synth.core.validation.honest.conversation:ReadsBack",
        "offers_more": "synth.core.validation.honest.conversation:OffersMore",
        "says_goodbye": "synth.core.validation.honest.conversation:SaysGoodbye",
        "mentions_injection": "synth.ext.injection.agents:MentionsInjection",
    },
)
"""Agents that do the work in another style than gold, and must win (``synth check``)."""

EXPORTERS = ExtensionPoint(
    "exporter",
    "synth.exporters",
    {
        "trl-sft": "synth.ext.exporters.trl:TrlSft",
        "trl-dpo": "synth.ext.exporters.trl:TrlDpo",
        "trl-kto": "synth.ext.exporters.trl:TrlKto",
        "trl-grpo": "synth.ext.exporters.trl:TrlGrpo",
        "openai-jsonl": "synth.ext.exporters.chat_lines:OpenAIJsonl",
        "sharegpt": "synth.ext.exporters.chat_lines:ShareGPT",
        "llamafactory": "synth.ext.exporters.chat_lines:LlamaFactory",
        "axolotl": "synth.ext.exporters.chat_lines:Axolotl",
        "verl": "synth.ext.exporters.verl:Verl",
        "verl-sft": "synth.ext.exporters.verl:VerlSft",
        "nemo-gym": "synth.ext.exporters.prompts:NemoGym",
        "tokens": "synth.ext.exporters.tokens:Tokens",
        "hermes": "synth.ext.exporters.verl:Hermes",
    },
)
"""Forms of a dataset for trainers and services (``synth export --to NAME``)."""

RUNTIMES = ExtensionPoint(
    "runtime",
    "synth.runtimes",
    {
        "auto": "synth.core.runner.runtimes.auto:AutoRuntime",
        "ray": "synth.core.runner.runtimes.ray:RayRuntime",
        "inline": "synth.core.runner.runtimes.inline:InlineRuntime",
    },
)
"""Where workers live (``runtime=NAME``)."""

CHECKS = ExtensionPoint(
    "check",
    "synth.checks",
    {
        "questions": "synth.ext.text2sql.golds:check_questions",
        "tasks_file": "synth.ext.action_lists.cli:check_tasks_file",
    },
)
"""What `synth check` proves in place of a world's families, by the option that asks for it."""

CONFIG_SECTIONS = ExtensionPoint(
    "config section",
    "synth.config_sections",
    {
        "suite": "synth.ext.text2sql:SuiteConfig",
        "held_out_wordings": "synth.ext.variety.config:WordingConfig",
        "selection": "synth.ext.variety.config:SelectionConfig",
        "renamings": "synth.ext.renamings:RenamingsConfig",
        "order": "synth.ext.variety.config:OrderConfig",
        "toolsets": "synth.ext.variety.config:ToolsetsConfig",
        "injection": "synth.ext.injection:InjectionConfig",
        "rephrase": "synth.ext.authoring.config:RephraseConfig",
        "logging": "synth.ext.middlewares:LoggingConfig",
        "approval": "synth.ext.middlewares:ApprovalConfig",
        "retry": "synth.ext.middlewares:RetryConfig",
        "faults": "synth.ext.middlewares:FaultsConfig",
        "compaction": "synth.ext.middlewares:CompactionConfig",
        "offload": "synth.ext.middlewares:OffloadConfig",
        "judge": "synth.ext.judge:JudgeConfig",
        "branch": "synth.ext.branching:BranchConfig",
        "narrate": "synth.ext.rationales:NarrateConfig",
        "otel": "synth.ext.telemetry:OtelConfig",
        "card": "synth.ext.hub:CardConfig",
    },
)
"""Keys of the config that come with a capability; the contract is
:mod:`synth.core.config.section`.
"""

MORE_COMMANDS = ExtensionPoint("command", "synth.commands", {})
"""Commands of other distributions: ``(arguments) -> exit code``; :mod:`synth.__main__` has ours."""

EXTENSION_POINTS = (
    WORLDS,
    TOOLS,
    ENVIRONMENTS,
    ENGINES,
    TASK_SOURCES,
    TASK_TRANSFORMS,
    FAMILY_READERS,
    TASK_GENERATORS,
    MODELS,
    USERS,
    MIDDLEWARES,
    ROLLOUT_WRAPPERS,
    RUN_HOOKS,
    CALLBACKS,
    REWARDS,
    HONEST_AGENTS,
    EXPORTERS,
    RUNTIMES,
    CONFIG_SECTIONS,
    MORE_COMMANDS,
)
