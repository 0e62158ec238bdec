"""The shape of tasks.yaml as typed models: its keys, the types of their values, what they mean.

The parser refuses a key that no model has (:func:`keys_of`), and the JSON Schema of the file is
generated from the models (:mod:`synth.core.tasks.yaml.json_schema`). Slots, columns and SQL depend
on the database and the rest of the file; the parser checks these.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from functools import cache
from typing import Annotated, Any, Literal, get_args

from envs.tools.tool import PROPERTY
from synth.core.tasks.domains import FAKE_MOST
from synth.core.tasks.yaml.words import FAMILY_ID, NAME


@dataclass(frozen=True)
class About:
    """The description of a key, for editors."""

    text: str


@dataclass(frozen=True)
class Definition:
    """The name under which a type stands among the definitions of the schema."""

    name: str


@dataclass(frozen=True)
class Also:
    """Further keywords of JSON Schema, as JSON: what annotates a type has to be hashable."""

    text: str

    @property
    def keywords(self) -> dict[str, Any]:
        return json.loads(self.text)


def also(**keywords: Any) -> Also:
    """Further keywords of JSON Schema."""
    return Also(json.dumps(keywords))


@cache
def keys_of(*models: type) -> frozenset[str]:
    """The keys that these models have."""
    return frozenset(key_of(field.name) for model in models for field in fields(model))


def key_of(name: str) -> str:
    """The key of a field, whose name has an underscore behind where Python keeps the word."""
    return name.removesuffix("_")


def words_of(literal: Any) -> frozenset[str]:
    """The words of a ``Literal``."""
    return frozenset(get_args(literal))


Whole = int
Number = float
Text = Annotated[str, also(pattern=r"\S")]
Texts = Text | list[Text]
Day = Annotated[str, also(pattern=r"^\d{4}-\d\d-\d\d$")]
TransientWord = Literal["allow", "forbid"]
Transient = Annotated[
    TransientWord,
    About("forbid: a row that is written and put back fails the state gate."),
    Definition("transient"),
]
HonestWord = Literal["except"]
FieldType = Literal["string", "integer", "number", "boolean", "array"]
ItemType = Literal["string", "integer", "number", "boolean"]
FieldCompare = Literal["exact", "text", "set", "bag"]
ColumnCompare = Literal["exact", "ignore", "free_text"]
RowOperation = Literal["insert", "update", "delete"]
Talk = Literal["ask", "confirm"]
SequelWord = Literal["proposed", "done", "refused"]
SqlRows = Literal["bag", "set"]
SqlColumns = Literal["any", "given"]
Name = Annotated[str, also(pattern=NAME.pattern)]
Property = Annotated[str, also(pattern=PROPERTY.pattern)]
OracleName = Annotated[str, also(pattern=r"^\$oracle\.")]


@dataclass(frozen=True, kw_only=True)
class ToleranceModel:
    abs: Annotated[Number, also(minimum=0)]


Tolerance = Annotated[ToleranceModel, Definition("tolerance")]


class CompareModel:
    """Rules by ``table.column``, ``*.column`` or ``table``; its keys are the author's."""


Compare = Annotated[CompareModel, Definition("compare")]


@dataclass(frozen=True, kw_only=True)
class GroundModel:
    key: Text
    sql: Text


@dataclass(frozen=True, kw_only=True)
class IntDomainModel:
    int: Annotated[
        list[Whole], also(minItems=2, maxItems=3), About("[low, high] or [low, high, step]")
    ]


@dataclass(frozen=True, kw_only=True)
class FloatDomainModel:
    float: Annotated[list[Number], also(minItems=3, maxItems=3), About("[low, high, step]")]


@dataclass(frozen=True, kw_only=True)
class ChoiceDomainModel:
    choice: Annotated[list[Any], also(uniqueItems=True)]


@dataclass(frozen=True, kw_only=True)
class DateDomainModel:
    date: Annotated[list[Day], also(minItems=2, maxItems=2), About("[first, last]")]


@dataclass(frozen=True, kw_only=True)
class SqlDomainModel:
    sql: Annotated[Text, About("A query with one column, of which each value is taken.")]


@dataclass(frozen=True, kw_only=True)
class FakeDomainModel:
    fake: Annotated[Text, About("A provider of faker, such as name, city or sentence.")]
    count: Annotated[Whole, also(minimum=1, maximum=FAKE_MOST)] | None = None
    locale: str | None = None


Domain = Annotated[
    IntDomainModel
    | FloatDomainModel
    | ChoiceDomainModel
    | DateDomainModel
    | SqlDomainModel
    | FakeDomainModel,
    Definition("domain"),
]


@dataclass(frozen=True, kw_only=True)
class TopicModel:
    says: Annotated[Texts, About("What the user tells; one is drawn.")]
    asked: Annotated[Texts, About("How the expert asks; one is drawn.")] | None = None
    words: (
        Annotated[
            Texts,
            About("A question with one of these is about it; so is one with the topic's name."),
        ]
        | None
    ) = None


@dataclass(frozen=True, kw_only=True)
class ConsentModel:
    mentions: Annotated[Texts, About("What the agent has to restate.")]
    act: (
        Annotated[
            Texts, About("Words for what will be done; a proposal of another act is not agreed to.")
        ]
        | None
    ) = None
    says: Annotated[Texts, About("How the user agrees; one is drawn.")] | None = None
    declines: (
        Annotated[
            Texts | Annotated[dict[Name, Texts], also(minProperties=1)],
            About("What the user says instead of agreeing: always, or in these cases."),
        ]
        | None
    ) = None
    covers: (
        Annotated[Texts, About("The tools whose calls a yes licenses; by default all.")] | None
    ) = None
    never: Annotated[Texts, About("What no proposal may hold.")] | None = None


Consents = ConsentModel | Annotated[list[ConsentModel], also(minItems=1)]


@dataclass(frozen=True, kw_only=True)
class SequelModel:
    """A follow-up of the user."""

    says: Annotated[Texts, About("What the user wants now; one is drawn.")]
    when: (
        Annotated[
            SequelWord,
            About(
                "done (the default): once the agent reports an end; proposed: in the place of the"
                " yes to a proposal; refused: once the agent says that something cannot be done."
            ),
        ]
        | None
    ) = None
    knows: (
        Annotated[
            dict[Name, Texts | TopicModel],
            also(minProperties=1),
            About("What the user knows from then on, beside what was known before."),
        ]
        | None
    ) = None
    agrees_if: (
        Annotated[Consents, About("Conditions that take the place of those so far.")] | None
    ) = None


@dataclass(frozen=True, kw_only=True)
class UserModel:
    says: Annotated[Texts, About("The request; one is drawn.")]
    signed_in: (
        Annotated[Text, About("The authenticated user: the last line of the system message.")]
        | None
    ) = None
    persona: (
        Annotated[Texts, About("Who speaks, for a model that plays the user; one is drawn.")] | None
    ) = None
    knows: (
        Annotated[
            dict[Name, Texts | TopicModel],
            also(minProperties=1),
            About("What the user tells only when asked."),
        ]
        | None
    ) = None
    agrees_if: (
        Annotated[Consents, About("The condition of consent, or one for each act.")] | None
    ) = None
    then: (
        Annotated[
            list[SequelModel],
            also(minItems=1),
            About("What the user wants later: a second request, a change of mind."),
        ]
        | None
    ) = None


@dataclass(frozen=True, kw_only=True)
class FieldModel:
    description: Text
    type: FieldType | None = None
    enum: list[Any] | None = None
    items: ItemType | None = None
    compare: FieldCompare | Tolerance | None = None


@dataclass(frozen=True, kw_only=True)
class SaysModel:
    all: Texts | None = None
    none: Texts | None = None


@dataclass(frozen=True, kw_only=True)
class ReplyModel:
    unjudged: (
        Annotated[Text, About("The reason for which replies of this family cannot be judged.")]
        | None
    ) = None
    must: (
        Annotated[Texts, About("Phrases that every reply holds, beside what follows from gold.")]
        | None
    ) = None
    never: Annotated[Texts, About("Phrases that no reply holds.")] | None = None
    forbid: (
        Annotated[Texts, About("Kinds of notes that fail a reply, such as `promise`.")] | None
    ) = None


@dataclass(frozen=True, kw_only=True)
class ReadsGateModel:
    at_most: Annotated[Whole, also(minimum=0), About("Calls that may be about other people only.")]


@dataclass(frozen=True, kw_only=True)
class SqlGateModel:
    rows: (
        Annotated[
            SqlRows,
            About("bag: how often a row comes counts (the default); set: it does not."),
        ]
        | None
    ) = None
    columns: (
        Annotated[
            SqlColumns,
            About("any: columns may stand in another order (the default); given: not."),
        ]
        | None
    ) = None
    databases: (
        Annotated[
            Whole,
            also(minimum=0, maximum=16),
            About("Further databases on which the answer has to be right."),
        ]
        | None
    ) = None
    tolerance: (
        Annotated[Number, also(minimum=0), About("The relative error that a figure may have.")]
        | None
    ) = None


class ToolName:
    """The name of a tool of the world."""


Read = ToolName | Annotated[dict[str, str], also(minProperties=1, maxProperties=1)]


@dataclass(frozen=True, kw_only=True)
class GateModel:
    """A gate with options: exactly one of these keys."""

    answer: (
        dict[
            str,
            OracleName | Annotated[dict[str, OracleName], also(minProperties=1, maxProperties=1)],
        ]
        | None
    ) = None
    no_write_before: (
        Annotated[list[Talk], About("No call may change rows before these steps of gold are done.")]
        | None
    ) = None
    required_calls: list[ToolName] | None = None
    forbidden_calls: list[ToolName] | None = None
    reads_only: (
        Annotated[
            ReadsGateModel,
            About("Whose data is read: a default of worlds that declare personal columns."),
        ]
        | None
    ) = None
    says: (
        Annotated[SaysModel, also(minProperties=1), About("Phrases of the last reply.")] | None
    ) = None
    sql: (
        Annotated[
            SqlGateModel,
            About("How the answer of the submitted query compares with that of `sql`."),
        ]
        | None
    ) = None


Gate = Annotated[GateModel, Definition("gate")]


@dataclass(frozen=True, kw_only=True)
class FrameModel:
    where: Annotated[Text, About("A condition that is true of the row before and after.")]
    columns: list[str] | None = None
    ops: list[RowOperation] | None = None
    at_most: Annotated[Whole, also(minimum=1)] | None = None


@dataclass(frozen=True, kw_only=True)
class EndModel:
    must: Annotated[Texts, About("SQL that gives one true value on the end.")]
    may_change: Annotated[dict[str, Text | FrameModel], About("The rows that may differ.")]
    bind: (
        Annotated[
            dict[Name, Text],
            also(minProperties=0),
            About("Names for values of the end, each of a query with one row."),
        ]
        | None
    ) = None


End = Annotated[EndModel, Definition("end")]


@dataclass(frozen=True, kw_only=True)
class AlternativesModel:
    any_of: list[End]


class StepList:
    """A list of steps in a step."""


class SaveModel:
    """``{word: operands}``: a computed value."""


class LoopModel:
    """``{name: $list, do: [steps]}``: one key beside ``do`` is the author's."""


@dataclass(frozen=True, kw_only=True)
class StepModel:
    """The words of a step; a tool's name or a case's name may stand in their place."""

    say: Annotated[Texts, About("The reply to the user.")] | None = None
    ask: Annotated[Texts, About("Topics of the user's `knows`.")] | None = None
    confirm: (
        Annotated[
            Texts, About("What the user is asked to agree to; it contains each of the mentions.")
        ]
        | None
    ) = None
    submit: (
        Annotated[dict[str, Any], also(minProperties=1), About("The answer's fields.")] | None
    ) = None
    then: (
        Annotated[
            Whole,
            also(minimum=0),
            About("The user's follow-up of this number, from 0, comes here."),
        ]
        | None
    ) = None
    for_each: Annotated[LoopModel, About("{name: $list, do: [steps]}")] | None = None
    if_: (
        Annotated[
            Texts,
            About("A condition, such as $stock >= {quantity}, or several that all must hold."),
        ]
        | None
    ) = None
    do: Annotated[StepList, About("The steps to play if the condition holds.")] | None = None
    else_: Annotated[StepList, About("The steps to play if it does not.")] | None = None
    save: (
        Annotated[
            dict[str, Text | Annotated[SaveModel, Definition("save")]],
            About("Names for values of the result, by JSONPath, or computed from such values."),
        ]
        | None
    ) = None
    fails: Annotated[Text, About("The category with which the call is meant to fail.")] | None = (
        None
    )


STEP_WORDS = keys_of(StepModel)
"""Words of the steps that no tool and no case may be named."""

Steps = Annotated[list[Annotated[StepModel, Definition("step")]], Definition("steps")]


@dataclass(frozen=True, kw_only=True)
class BodyModel:
    """The part of a family that holds for each of its tasks."""

    user: Annotated[
        Annotated[UserModel, Definition("user")],
        About("Who asks, what is told when asked, and what is agreed to."),
    ]
    answer: (
        Annotated[
            dict[Property, Annotated[FieldModel, Definition("field")]],
            also(minProperties=1),
            About("The fields of a `submit` tool."),
        ]
        | None
    ) = None
    oracle: (
        Annotated[dict[str, Text], About("Independent SQL for the answer, with slots as :name.")]
        | None
    ) = None
    gold: Annotated[Steps, About("The reference solution.")] | None = None
    sql: (
        Annotated[
            Text,
            About(
                "In the place of gold: the query that answers the question, with slots as :name."
            ),
        ]
        | None
    ) = None
    say: (
        Annotated[
            Texts,
            About("Words for the answer of `sql`: the columns of an only row, or its `rows`."),
        ]
        | None
    ) = None
    hint: (
        Annotated[
            Text,
            About(
                "What the request says beside the question: a definition, how a value is written."
            ),
        ]
        | None
    ) = None
    difficulty: (
        Annotated[
            Literal["simple", "moderate", "challenging"],
            About("How hard the author thinks that it is."),
        ]
        | None
    ) = None
    gates: (
        Annotated[
            list[Gate],
            also(uniqueItems=True),
            About(
                "What a rollout has to pass; by default `state`, and `answer` where gold submits,"
                " `sql` where it is a query."
            ),
        ]
        | None
    ) = None
    reply: (
        Annotated[
            ReplyModel,
            also(minProperties=1),
            About("How replies are judged, beside what follows from gold."),
        ]
        | None
    ) = None
    compare: Annotated[Compare, About("How columns compare, beside the world's rules.")] | None = (
        None
    )
    alternatives: Annotated[AlternativesModel, About("Right ends other than gold's.")] | None = None
    transient: Transient | None = None
    honest: (
        Annotated[
            dict[HonestWord, dict[str, Text]],
            About(
                "`except`: the honest agents of `synth check` that the family may refuse, each with"
                " the reason."
            ),
        ]
        | None
    ) = None


@dataclass(frozen=True, kw_only=True)
class SourceModel:
    model: Annotated[Text, About("The name of the model.")]
    attempts: Annotated[
        Whole,
        also(minimum=1),
        About("The number of its attempts, the last of which proved itself."),
    ]


@dataclass(frozen=True, kw_only=True)
class FamilyModel(BodyModel):
    id: Annotated[
        str, also(pattern=FAMILY_ID.pattern), About("The family's name, in the dataset too.")
    ]
    ground: Annotated[
        GroundModel,
        About(
            "The rows that tasks are about; their columns are slots, and `key` is one that tells"
            " them apart."
        ),
    ]
    about: Annotated[str, About("What the family teaches or tests.")] | None = None
    source: (
        Annotated[
            SourceModel,
            About("The model that wrote the family, as `synth draft` notes it; absent for people."),
        ]
        | None
    ) = None
    vary: (
        Annotated[
            dict[Name, Domain],
            also(minProperties=0),
            About("Slots whose values multiply the tasks."),
        ]
        | None
    ) = None
    cases: (
        Annotated[
            dict[Name, Text],
            also(minProperties=2),
            About(
                "A name and an SQL condition over the grounding each, with varied slots as :name;"
                " together they cover it."
            ),
        ]
        | None
    ) = None


@dataclass(frozen=True, kw_only=True)
class TasksModel:
    """A whole tasks.yaml."""

    families: list[
        Annotated[
            FamilyModel,
            also(oneOf=[{"required": ["gold"]}, {"required": ["sql"]}]),
            Definition("family"),
        ]
    ]
    now: (
        Annotated[str, About("The world's date and time, ISO 8601 without offset, taken as UTC.")]
        | None
    ) = None
    compare: Annotated[Compare, About("How columns compare, in all families.")] | None = None
    transient: Annotated[Transient, About("The default of all families.")] | None = None
    read_before: (
        Annotated[
            dict[Name, list[Read | list[Read]]],
            About(
                "By tool, what has to be read before it is called; of a list in the list, one is"
                " enough. {tool: argument}: the result shows that argument of the call."
            ),
        ]
        | None
    ) = None
    form: (
        Annotated[
            dict[Property, Text],
            About(
                "One `submit` form of all answers' fields for all families, which does not reveal"
                " the family; descriptions by field, where several families have it."
            ),
        ]
        | None
    ) = None


@dataclass(frozen=True, kw_only=True)
class YieldedModel(BodyModel):
    """The dict that a family in Python yields for each task."""

    slots: dict[str, Any]
    key: Any
    case: str | None = None
