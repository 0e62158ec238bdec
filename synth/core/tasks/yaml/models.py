"""The shape of tasks.yaml as typed models: its keys, the types of their values, what they mean.

:meth:`synth.core.tasks.yaml.scope.Scope.check` checks a part of the file against its model, and the
JSON Schema of the file is generated from the models (:mod:`synth.core.tasks.yaml.json_schema`).
Slots, columns and SQL depend on the database and the rest of the file; the parser checks these.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, cast, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    model_validator,
)
from pydantic_core import PydanticCustomError
from typing_extensions import TypeAliasType

from envs.tools.tool import PROPERTY
from synth.core.tasks.domains import FAKE_MOST, KINDS
from synth.core.tasks.yaml.saves import COMPUTED
from synth.core.tasks.yaml.scope import UNKNOWN_KEY, nearest
from synth.core.tasks.yaml.words import FAMILY_ID, NAME, TABLE_COMPARE


class _Notation(BaseModel):
    """A mapping of tasks.yaml. An unknown key is refused with the nearest one."""

    model_config = ConfigDict(strict=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _known(cls, value: object) -> object:
        known = keys_of(cls)
        given = cast("dict[str, object]", value) if isinstance(value, dict) else {}
        for key in given if cls.model_config.get("extra") == "forbid" else ():
            if key not in known:
                context = {"key": key, "near": nearest(key, known)}
                raise PydanticCustomError(UNKNOWN_KEY, "has no such key", context)
        return cast("object", value)


def keys_of(*models: type[BaseModel]) -> frozenset[str]:
    """The keys that these models have."""
    fields = [item for model in models for item in model.model_fields.items()]
    return frozenset(field.alias or name for name, field in fields)


def words_of(literal: Any) -> frozenset[str]:
    """The words of a ``Literal``."""
    return frozenset(get_args(literal))


def _kind(value: object) -> str:
    return (
        "a list" if isinstance(value, list) else "a mapping" if isinstance(value, dict) else "text"
    )


def _optional(text: str, key: str | None = None) -> Any:
    """A key that may be absent, with its description for editors; ``key`` is a word of Python."""
    return Field(None, alias=key, description=text)


def _needed(text: str) -> Any:
    return Field(description=text)


BY_KIND = Discriminator(_kind)
"""Choose among types tagged ``text``, ``a list`` and ``a mapping`` by what a value is."""

FILLED = Field(min_length=1)
ONE = Field(min_length=1, max_length=1)

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
OneText = Annotated[Text, Tag("text")]
ListOfTexts = Annotated[list[Text], FILLED, Tag("a list")]
Texts = Annotated[OneText | ListOfTexts, BY_KIND]
Whole = int
Number = Annotated[float, Field(allow_inf_nan=False)]
Day = Annotated[str, Field(json_schema_extra={"pattern": r"^\d{4}-\d\d-\d\d$"})]
TransientWord = Literal["allow", "forbid"]
Transient = Annotated[
    TransientWord, _needed("forbid: a row that is written and put back fails the state gate.")
]
FieldType = Literal["string", "integer", "number", "boolean", "array"]
ItemType = Literal["string", "integer", "number", "boolean"]
FieldCompare = Literal["exact", "text", "set", "bag"]
ColumnCompare = Literal["exact", "ignore", "free_text"]
TableCompare = Literal["append_only"]
Difficulty = Literal["simple", "moderate", "challenging"]
RowOperation = Literal["insert", "update", "delete"]
Talk = Literal["ask", "confirm"]
SequelWord = Literal["proposed", "done", "refused"]
SqlRows = Literal["bag", "set"]
SqlColumns = Literal["any", "given"]
Name = Annotated[str, Field(pattern=NAME.pattern)]
Property = Annotated[str, Field(pattern=PROPERTY.pattern)]
OracleName = Annotated[str, Field(pattern=r"^\$oracle\.")]


class ToleranceModel(_Notation):
    abs: Annotated[Number, Field(ge=0)]


Compare = TypeAliasType(
    "Compare",
    Annotated[
        dict[
            str,
            Annotated[
                Annotated[ColumnCompare | TableCompare, Tag("text")]
                | Annotated[ToleranceModel, Tag("a mapping")],
                BY_KIND,
            ],
        ],
        Field(json_schema_extra={"patternProperties": {r"^[^.]+$": {"const": TABLE_COMPARE}}}),
    ],
)
"""Rules by ``table.column``, ``*.column`` or ``table``."""


class GroundModel(_Notation):
    key: Text
    sql: Text


class IntDomainModel(_Notation):
    int: Annotated[list[Whole], Field(min_length=2, max_length=3)] = _needed(
        "[low, high] or [low, high, step]"
    )


class FloatDomainModel(_Notation):
    float: Annotated[list[Number], Field(min_length=3, max_length=3)] = _needed("[low, high, step]")


class ChoiceDomainModel(_Notation):
    choice: Annotated[list[Any], FILLED] = Field(json_schema_extra={"uniqueItems": True})


class DateDomainModel(_Notation):
    date: Annotated[list[Day], Field(min_length=2, max_length=2)] = _needed("[first, last]")


class SqlDomainModel(_Notation):
    sql: Text = _needed("A query with one column, of which each value is taken.")


class FakeDomainModel(_Notation):
    fake: Text = _needed("A provider of faker, such as name, city or sentence.")
    count: Annotated[Whole, Field(ge=1, le=FAKE_MOST)] | None = None
    locale: str | None = None


def _kind_of_domain(value: object) -> str | None:
    return next((f"of {kind}" for kind in KINDS if isinstance(value, dict) and kind in value), None)


Domain = TypeAliasType(
    "Domain",
    Annotated[
        Annotated[IntDomainModel, Tag("of int")]
        | Annotated[FloatDomainModel, Tag("of float")]
        | Annotated[ChoiceDomainModel, Tag("of choice")]
        | Annotated[DateDomainModel, Tag("of date")]
        | Annotated[SqlDomainModel, Tag("of sql")]
        | Annotated[FakeDomainModel, Tag("of fake")],
        Discriminator(
            _kind_of_domain,
            custom_error_type="domain",
            custom_error_message=f"one of {', '.join(KINDS)}, such as {{int: [55, 110]}}",
        ),
    ],
)


class TopicModel(_Notation):
    says: Texts = _needed("What the user tells; one is drawn.")
    asked: Texts | None = _optional("How the expert asks; one is drawn.")
    words: Texts | None = _optional(
        "A question with one of these is about it; so is one with the topic's name."
    )


Topics = Annotated[
    dict[Name, Annotated[OneText | ListOfTexts | Annotated[TopicModel, Tag("a mapping")], BY_KIND]],
    FILLED,
]


class ConsentModel(_Notation):
    mentions: Texts = _needed("What the agent has to restate.")
    act: Texts | None = _optional(
        "Words for what will be done; a proposal of another act is not agreed to."
    )
    says: Texts | None = _optional("How the user agrees; one is drawn.")
    declines: (
        Annotated[
            OneText | ListOfTexts | Annotated[dict[Name, Texts], FILLED, Tag("a mapping")], BY_KIND
        ]
        | None
    ) = _optional("What the user says instead of agreeing: always, or in these cases.")
    covers: Texts | None = _optional("The tools whose calls a yes licenses; by default all.")
    never: Texts | None = _optional("What no proposal may hold.")


Consents = Annotated[
    Annotated[ConsentModel, Tag("a mapping")]
    | Annotated[list[ConsentModel], FILLED, Tag("a list")],
    Discriminator(lambda value: "a list" if isinstance(value, list) else "a mapping"),
]


class SequelModel(_Notation):
    """A follow-up of the user."""

    says: Texts = _needed("What the user wants now; one is drawn.")
    when: SequelWord | None = _optional(
        "done (the default): once the agent reports an end; proposed: in the place of the yes to"
        " a proposal; refused: once the agent says that something cannot be done."
    )
    knows: Topics | None = _optional(
        "What the user knows from then on, beside what was known before."
    )
    agrees_if: Consents | None = _optional("Conditions that take the place of those so far.")


class UserModel(_Notation):
    says: Texts = _needed("The request; one is drawn.")
    signed_in: Text | None = _optional(
        "The authenticated user: the last line of the system message."
    )
    persona: Texts | None = _optional("Who speaks, for a model that plays the user; one is drawn.")
    knows: Topics | None = _optional("What the user tells only when asked.")
    agrees_if: Consents | None = _optional("The condition of consent, or one for each act.")
    then: Annotated[list[SequelModel], FILLED] | None = _optional(
        "What the user wants later: a second request, a change of mind."
    )


class FieldModel(_Notation):
    description: Text
    type: FieldType | None = None
    enum: Annotated[list[Any], FILLED] | None = None
    items: ItemType | None = None
    compare: (
        Annotated[
            Annotated[FieldCompare, Tag("text")] | Annotated[ToleranceModel, Tag("a mapping")],
            BY_KIND,
        ]
        | None
    ) = None


class SaysModel(_Notation):
    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    all: Texts | None = None
    none: Texts | None = None


class ReplyModel(_Notation):
    unjudged: Text | None = _optional(
        "The reason for which replies of this family cannot be judged."
    )
    must: Texts | None = _optional("Phrases that every reply holds, beside what follows from gold.")
    never: Texts | None = _optional("Phrases that no reply holds.")
    forbid: Texts | None = _optional("Kinds of notes that fail a reply, such as `promise`.")


class ReadsGateModel(_Notation):
    at_most: Annotated[Whole, Field(ge=0)] = _needed("Calls that may be about other people only.")


class SqlGateModel(_Notation):
    rows: SqlRows | None = _optional(
        "bag: how often a row comes counts (the default); set: it does not."
    )
    columns: SqlColumns | None = _optional(
        "any: columns may stand in another order (the default); given: not."
    )
    databases: Annotated[Whole, Field(ge=0, le=16)] | None = _optional(
        "Further databases on which the answer has to be right."
    )
    tolerance: Annotated[Number, Field(ge=0, lt=1)] | None = _optional(
        "The relative error that a figure may have."
    )


ToolName = TypeAliasType("ToolName", str)
"""The name of a tool of the world."""

OneTool = Annotated[ToolName, Tag("text")]
ToolOfArgument = Annotated[dict[str, str], ONE, Tag("a mapping")]
Read = Annotated[OneTool | ToolOfArgument, BY_KIND]
Lookup = Annotated[OneTool | ToolOfArgument | Annotated[list[Read], FILLED, Tag("a list")], BY_KIND]
Oracle = Annotated[
    Annotated[OracleName, Tag("text")] | Annotated[dict[str, OracleName], ONE, Tag("a mapping")],
    BY_KIND,
]


GateName = Annotated[str, Field(json_schema_extra={"pattern": "^(state|answer|sql)$|:"})]


class GateModel(_Notation):
    """A gate with options: one of these keys, or the name of a gate of one's own."""

    model_config = ConfigDict(extra="allow")

    answer: dict[str, Oracle] | None = None
    no_write_before: Annotated[list[Talk], FILLED] | None = _optional(
        "No call may change rows before these steps of gold are done."
    )
    required_calls: Annotated[list[ToolName], FILLED] | None = None
    forbidden_calls: Annotated[list[ToolName], FILLED] | None = None
    reads_only: ReadsGateModel | None = _optional(
        "Whose data is read: a default of worlds that declare personal columns."
    )
    says: SaysModel | None = _optional("Phrases of the last reply.")
    sql: SqlGateModel | None = _optional(
        "How the answer of the submitted query compares with that of `sql`."
    )


class FrameModel(_Notation):
    where: Text = _needed("A condition that is true of the row before and after.")
    columns: Annotated[list[str], FILLED] | None = None
    ops: Annotated[list[RowOperation], FILLED] | None = None
    at_most: Annotated[Whole, Field(ge=1)] | None = None


class EndModel(_Notation):
    must: Texts = _needed("SQL that gives one true value on the end.")
    may_change: dict[str, Annotated[OneText | Annotated[FrameModel, Tag("a mapping")], BY_KIND]] = (
        _needed("The rows that may differ.")
    )
    bind: dict[Name, Text] | None = _optional(
        "Names for values of the end, each of a query with one row."
    )


class AlternativesModel(_Notation):
    any_of: Annotated[list[EndModel], FILLED]


Steps = TypeAliasType("Steps", Annotated[list["StepModel"], FILLED])
Computed = Annotated[
    dict[str, Any], ONE, Field(json_schema_extra={"propertyNames": {"enum": [*sorted(COMPUTED)]}})
]
Save = Annotated[OneText | Annotated[Computed, Tag("a mapping")], BY_KIND]


class LoopModel(_Notation):
    """``{name: $list, do: [steps]}``: one key beside ``do`` is the author's."""

    model_config = ConfigDict(
        extra="allow", json_schema_extra={"minProperties": 2, "maxProperties": 2}
    )

    do: Steps


class StepModel(_Notation):
    """The words of a step; a tool's name or a case's name may stand in their place."""

    model_config = ConfigDict(extra="allow")

    say: Texts = _optional("The reply to the user.")
    ask: Texts = _optional("Topics of the user's `knows`.")
    confirm: Texts = _optional(
        "What the user is asked to agree to; it contains each of the mentions."
    )
    submit: Annotated[dict[str, Any], FILLED] = _optional("The answer's fields.")
    then: Annotated[Whole, Field(ge=0)] = _optional(
        "The user's follow-up of this number, from 0, comes here."
    )
    for_each: LoopModel = _optional("{name: $list, do: [steps]}")
    if_: Texts = _optional(
        "A condition, such as $stock >= {quantity}, or several that all must hold.", "if"
    )
    do: Steps = _optional("The steps to play if the condition holds.")
    else_: Steps = _optional("The steps to play if it does not.", "else")
    save: dict[Name, Save] | None = _optional(
        "Names for values of the result, by JSONPath, or computed from such values."
    )
    fails: Text | None = _optional("The category with which the call is meant to fail.")


STEP_WORDS = keys_of(StepModel)
"""Words of the steps that no tool and no case may be named."""


class HonestModel(_Notation):
    except_: dict[str, Text] | None = _optional(
        "The honest agents of `synth check` that the family may refuse, each with the reason.",
        "except",
    )


class BodyModel(_Notation):
    """The part of a family that holds for each of its tasks."""

    user: UserModel = _needed("Who asks, what is told when asked, and what is agreed to.")
    answer: Annotated[dict[Property, FieldModel], FILLED] | None = _optional(
        "The fields of a `submit` tool."
    )
    oracle: dict[str, Text] | None = _optional(
        "Independent SQL for the answer, with slots as :name."
    )
    gold: Steps | None = _optional("The reference solution.")
    sql: Text | None = _optional(
        "In the place of gold: the query that answers the question, with slots as :name."
    )
    say: Texts | None = _optional(
        "Words for the answer of `sql`: the columns of an only row, or its `rows`."
    )
    hint: Text | None = _optional(
        "What the request says beside the question: a definition, how a value is written."
    )
    difficulty: Difficulty | None = _optional("How hard the author thinks that it is.")
    gates: (
        Annotated[
            list[
                Annotated[
                    Annotated[GateName, Tag("text")] | Annotated[GateModel, Tag("a mapping")],
                    BY_KIND,
                ]
            ],
            FILLED,
        ]
        | None
    ) = Field(
        None,
        description="What a rollout has to pass; by default `state`, and `answer` where gold"
        " submits, `sql` where it is a query.",
        json_schema_extra={"uniqueItems": True},
    )
    reply: ReplyModel | None = _optional("How replies are judged, beside what follows from gold.")
    compare: Compare | None = _optional("How columns compare, beside the world's rules.")
    alternatives: AlternativesModel | None = _optional("Right ends other than gold's.")
    transient: Transient | None = None
    honest: HonestModel | None = None


class SourceModel(_Notation):
    model: Text = _needed("The name of the model.")
    attempts: Annotated[Whole, Field(ge=1)] = _needed(
        "The number of its attempts, the last of which proved itself."
    )


class FamilyModel(BodyModel):
    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["gold"]}, {"required": ["sql"]}]}
    )

    id: Annotated[str, Field(pattern=FAMILY_ID.pattern)] = _needed(
        "The family's name, in the dataset too."
    )
    ground: GroundModel = _needed(
        "The rows that tasks are about; their columns are slots, and `key` is one that tells them"
        " apart."
    )
    about: str | None = _optional("What the family teaches or tests.")
    source: SourceModel | None = _optional(
        "The model that wrote the family, as `synth draft` notes it; absent for people."
    )
    vary: dict[Name, Domain] | None = _optional("Slots whose values multiply the tasks.")
    cases: Annotated[dict[Name, Text], Field(min_length=2)] | None = _optional(
        "A name and an SQL condition over the grounding each, with varied slots as :name;"
        " together they cover it."
    )


class FileModel(_Notation):
    """The keys of a tasks.yaml beside `families`."""

    now: str | None = _optional("The world's date and time, ISO 8601 without offset, taken as UTC.")
    compare: Compare | None = _optional("How columns compare, in all families.")
    transient: Transient | None = _optional("The default of all families.")
    read_before: dict[Name, Annotated[list[Lookup], FILLED]] | None = _optional(
        "By tool, what has to be read before it is called; of a list in the list, one is enough."
        " {tool: argument}: the result shows that argument of the call."
    )
    form: dict[Property, Text] | None = _optional(
        "One `submit` form of all answers' fields for all families, which does not reveal the"
        " family; descriptions by field, where several families have it."
    )


class RulesModel(FileModel):
    """A tasks.yaml whose families are checked one by one."""

    families: list[Any] | None = None


class TasksModel(FileModel):
    """A whole tasks.yaml."""

    families: Annotated[list[FamilyModel], FILLED] = _needed("The families of tasks.")


class YieldedModel(BodyModel):
    """The dict that a family in Python yields for each task."""

    slots: dict[Name, Any]
    key: Any
    case: str | None = None
