"""The run config: every problem at once, in words; the fingerprint and what it leaves out."""

import dataclasses
import pickle

import pytest
import yaml

from synth.config import (
    KEYS,
    EndpointConfig,
    RunConfig,
    flat,
    from_dict,
    problems,
    to_dict,
    to_yaml,
)
from synth.core.config.fingerprints import EXCLUDED, difference, fingerprint, fingerprinted
from synth.errors import ConfigProblems

PRICES = "model.price_input_usd_per_mtok and model.price_output_usd_per_mtok"
OWN = "an extension of your own is named package.module:attribute)"
WORLD = {"env": {"name": "ehr_db"}}


def config(**sections):
    return from_dict({**WORLD, **sections})


def digest(made):
    return fingerprint(fingerprinted(made))


def test_defaults_and_round_trips():
    """An almost empty dict gives the defaults, and a config survives dict, YAML and pickle
    unchanged.
    """
    made = config(
        model={"extra_body": {"top_k": 20, "stop": ["</s>"]}}, tasks={"families": "record_vitals"}
    )
    assert made.tasks.count == 64
    assert made.tasks.families == ["record_vitals"]
    assert made.model.extra_body == {"top_k": 20, "stop": ["</s>"]}
    assert (
        from_dict(to_dict(made))
        == from_dict(yaml.safe_load(to_yaml(to_dict(made))))
        == pickle.loads(pickle.dumps(made))
        == made
    )


def test_a_config_cannot_be_changed_after_its_check():
    with pytest.raises(dataclasses.FrozenInstanceError):
        config().seed = 3


def test_all_problems_are_reported_at_once():
    """Unknown keys, types, ranges, choices and the rules between keys stand in one exception."""
    with pytest.raises(ConfigProblems) as caught:
        from_dict(
            {
                "tasks": {"cuont": 5, "count": 0, "families": []},
                "model": {"kind": "openai", "temperature": "hot", "extra_body": {"n": 2}},
                "runtime": {"kind": "rya"},
                "agent": 5,
                "budget": {"usd": 1},
                "seed": 1.5,
                "outptu": {},
            }
        )
    assert sorted(caught.value.problems) == [
        "agent: must be a section with keys of its own, not 5",
        f"budget.usd: cannot be kept without prices: set {PRICES}",
        "env: no world: give env.name (one that ships) or env.path (a folder of your own)",
        "model.extra_body.n: this is not extra: the rollout sets it",
        "model.name: model=openai needs the name of a model, as in model.name=gpt-4.1-mini",
        "model.temperature: must be a number, not 'hot'",
        "outptu: unknown key; did you mean output?",
        "runtime.kind: unknown runtime 'rya'; did you mean ray? (known: auto, ray, inline; " + OWN,
        "seed: must be a whole number, not 1.5",
        "tasks.count: must be more than 0, not 0",
        "tasks.cuont: unknown key; did you mean tasks.count?",
        "tasks.families: must be a list that is not empty (null leaves it out), not []",
    ]


@pytest.mark.parametrize(
    ("section", "key", "value", "words"),
    [
        ("tasks", "count", True, "a whole number"),
        ("tasks", "count", "12", "a whole number"),
        ("tasks", "samples", -1, "more than 0"),
        ("tasks", "families", [1], "must be text"),
        ("tasks", "families", ["a", "a"], "listed twice"),
        ("model", "temperature", float("nan"), "a finite number"),
        ("model", "temperature", -0.1, "at least 0"),
        ("model", "top_p", 1.2, "at most 1"),
        ("model", "name", 5, 'model.name="5"'),
        ("model", "name", "", "not empty"),
        ("model", "extra_body", [1], "a mapping"),
        ("model", "extra_body", {1: 2}, "a key must be text"),
        ("model", "extra_body", {"a": {2: 1}}, "cannot be written as JSON"),
        ("model", "extra_body", {"a": [float("inf")]}, "model.extra_body.a.0"),
        ("model", "extra_body", {"temperature": 1}, "set model.temperature instead"),
        ("model", "extra_body", {"messages": []}, "the rollout sets it"),
        ("model", "kind", "opnai", "did you mean openai?"),
        ("model", "base_url", "localhost:8000", "must be a URL"),
        (
            "model",
            "path",
            "out/ehr",
            "only model=replay plays a recorded run back, and the model is scripted",
        ),
        ("model", "send_seed", "yes", "true or false"),
        ("model", "base_url", "http://[::1", "must be a URL"),
        ("model", "base_url", "http://host:port/v1", "must be a URL"),
        ("runtime", "breaker_rate", 0, "more than 0"),
        ("runtime", "workers", 0, "more than 0"),
        ("database", "engine", "sqlit", "did you mean sqlite?"),
        ("agent", "error_style", "loud", "plain or structured or advice"),
        ("output", "rows_per_shard", 1.0, "a whole number"),
        ("budget", "minutes", 0, "more than 0"),
    ],
)
def test_one_bad_value_is_one_line_that_names_its_key(section, key, value, words):
    lines = problems({**WORLD, section: {key: value}})
    assert len(lines) == 1, lines
    assert lines[0].startswith(f"{section}.{key}")
    assert words in lines[0]


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("mysql", "mariadb"),
        ("postgres", "postgresql"),
        ("mariadb", "mariadb"),
        ("my_package.engines:fast", "my_package.engines:fast"),
    ],
)
def test_an_engine_is_known_by_its_name_whatever_alias_was_recorded(given: str, name: str):
    config = from_dict({**WORLD, "database": {"engine": given}})
    assert config.database.engine == name
    assert from_dict(yaml.safe_load(to_yaml(to_dict(config)))) == config


UNIVERSES = {"universes": 4, "splits": {"train": [0, 1, 2], "test": [3]}}


@pytest.mark.parametrize(
    ("tasks", "words"),
    [
        (
            {"universes": 0},
            ["tasks.universes: must be more than 0, or a list of universes such as [3,4]"],
        ),
        (
            {"universes": [-1]},
            ["tasks.universes: must be more than 0, or a list of universes such as [3,4]"],
        ),
        ({"universes": [3, 3]}, ["tasks.universes: 3 is listed twice"]),
        (
            {"universes": [3, 4], "splits": {"train": [3], "test": [5]}},
            [
                "tasks.splits: unknown universe 5; tasks.universes=[3,4] lists the known ones",
                "tasks.splits: universe 4 of tasks.universes=[3,4] belong to no split",
            ],
        ),
        (
            {"universes": 2, "splits": {"train": [0, 1.5]}},
            ["tasks.splits.train.1: must be a whole number, not 1.5"],
        ),
        (
            {"universes": 2, "splits": {"train": [0, -1]}},
            ["tasks.splits.train.1: must be at least 0, not -1"],
        ),
        ({"splits": {}}, ["tasks.splits: names no split"]),
        (
            {"universes": 2, "splits": {"train": [0, 1], "test": []}},
            ["tasks.splits.test: has no universe"],
        ),
        (
            {"splits": {"te-st": [0]}},
            ["tasks.splits.te-st: the name of a split must be a letter, then"],
        ),
        ({"splits": {"all": [0]}}, ["tasks.splits.all: the name of a split means all of them"]),
        (
            {"universes": 2, "splits": {"train": [0, 1], "test": [1]}},
            ["tasks.splits: universe 1 is given twice, to train and test"],
        ),
        (
            {"universes": 4, "splits": {"train": [0, 4]}},
            [
                (
                    "tasks.splits: unknown universe 4; with tasks.universes=4 they are numbered"
                    " from 0 to 3"
                ),
                "tasks.splits: universes 1, 2, 3 of tasks.universes=4 belong to no split",
            ],
        ),
        (
            {"held_out": "a"},
            [
                (
                    "tasks.held_out: held out from the first split, for which there must be a"
                    " second:"
                    " 'tasks"
                )
            ],
        ),
        ({**UNIVERSES, "held_out": ["a", "a"]}, ["tasks.held_out: 'a' is listed twice"]),
        (
            {**UNIVERSES, "families": ["book", "cancel"], "held_out": ["boko"]},
            ["tasks.held_out: 'boko' is not in tasks.families; did you mean book?"],
        ),
    ],
)
def test_splits_part_the_universes(tasks, words):
    """Every universe belongs to one split; all that is wrong with it is said at once, a line
    each.
    """
    lines = problems({**WORLD, "tasks": tasks})
    assert len(lines) == len(words), lines
    assert all(line.startswith(start) for line, start in zip(lines, words, strict=True)), lines


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"tasks": {"renamings": -1}}, ["tasks.renamings: must be a number of variants"]),
        ({"tasks": {"renamings": True}}, ["tasks.renamings: must be a number of variants"]),
        ({"tasks": {"renamings": []}}, ["tasks.renamings: must be a number of variants"]),
        ({"tasks": {"renamings": [2, 2]}}, ["tasks.renamings: 2 is listed twice"]),
        (
            {"tasks": {**UNIVERSES, "renamings": 2, "held_out_renamings": [3]}},
            ["tasks.held_out_renamings: 3 is not among the variants of tasks.renamings"],
        ),
        (
            {"tasks": {**UNIVERSES, "renamings": [1, 2], "held_out_renamings": [1, 2]}},
            ["tasks.held_out_renamings: leaves the first split none"],
        ),
        (
            {"tasks": {"renamings": 2, "held_out_renamings": [1]}},
            ["tasks.held_out_renamings: held out from the first split"],
        ),
        (
            {
                "tasks": {"renamings": 1},
                "agent": {"middleware": ["approval"], "approval": {"deny": "refund_*"}},
            },
            ["agent.approval.deny: names tools of the world"],
        ),
    ],
)
def test_a_wrong_choice_of_renamings_is_named(changes, words):
    lines = problems({**WORLD, **changes})
    assert len(lines) == len(words), lines
    assert all(line.startswith(start) for line, start in zip(lines, words, strict=True)), lines


@pytest.mark.parametrize(
    ("tasks", "start"),
    [
        ({"held_out_phrasings": 0.2}, "tasks.held_out_phrasings: held out from the first split"),
        ({**UNIVERSES, "held_out_phrasings": 0}, "tasks.held_out_phrasings: must be more than 0"),
        ({**UNIVERSES, "held_out_phrasings": 1}, "tasks.held_out_phrasings: must be less than 1"),
    ],
)
def test_a_wrong_share_of_held_out_wordings_is_named(tasks, start):
    (line,) = problems({**WORLD, "tasks": tasks})
    assert line.startswith(start), line


def test_sound_splits_survive_a_round_trip_and_their_order_counts():
    made = config(tasks={**UNIVERSES, "held_out": "a"})
    assert made.tasks.splits == {"train": [0, 1, 2], "test": [3]}
    assert made.tasks.held_out == ["a"]
    assert from_dict(yaml.safe_load(to_yaml(to_dict(made)))) == made
    assert list(from_dict(yaml.safe_load(to_yaml(to_dict(made)))).tasks.splits) == ["train", "test"]
    assert config(tasks={"universes": 2, "splits": {"train": 0, "test": 1}}).tasks.splits == {
        "train": [0],
        "test": [1],
    }
    turned = config(
        tasks={"universes": 4, "splits": {"test": [3], "train": [2, 1, 0]}, "held_out": "a"}
    )
    same = config(
        tasks={"universes": 4, "splits": {"train": [2, 1, 0], "test": [3]}, "held_out": "a"}
    )
    assert digest(same) == digest(made) != digest(turned)
    assert [line.split(":")[0] for line in difference(made, turned)] == ["tasks.splits"]


@pytest.mark.parametrize("raw", [[], None, "seed: 3", 5])
def test_what_is_no_mapping_is_said_to_be_none(raw):
    assert problems(raw)[0].startswith("a config is a mapping")


def test_a_key_that_is_no_text_is_a_problem_and_no_crash():
    assert problems({**WORLD, 5: 1})


def test_a_model_of_ones_own_is_named_by_its_import_path():
    assert config(model={"kind": "my_package.models:Echo"}).model.kind == "my_package.models:Echo"


def test_one_world_and_only_one():
    assert "which world?" in problems({"env": {"name": "a", "path": "/b"}})[0]
    assert config(env={"path": "/b"}).env.name is None


@pytest.mark.parametrize(
    "model",
    [
        {"api_key_env": "sk-abcdef"},
        {"api_key_env": "sk_live_0123456789abcdefghij"},
        {"api_key_env": "0123456789abcdef0123456789abcdef"},
        {"name": "sk-proj-hunter2hunter2hunter2"},
        {"base_url": "https://user:hunter2@host/v1"},
        {"base_url": "https://host/v1?api_key=hunter2"},
        {"extra_body": {"api_key": "hunter2"}},
        {"extra_body": {"headers": [{"Authorization": "hunter2"}]}},
        {"extra_body": {"note": "Bearer hunter2hunter2hunter2"}},
        {"api_key": "hunter2"},
    ],
)
def test_a_secret_is_refused_explained_and_not_shown(model):
    """Whatever looks like a key is one line that says how keys are given, without the key."""
    lines = problems({**WORLD, "model": model})
    assert len(lines) == 1, lines
    assert "model.api_key_env=OPENAI_API_KEY" in lines[0]
    assert not any(word in lines[0] for word in ("hunter2", "abcdef", "sk-", "sk_"))


def test_a_servers_url_is_named_and_not_stored():
    """It holds a password more often than not."""
    lines = problems({**WORLD, "database": {"dsn_env_var": "postgresql://me:hunter2@host/db"}})
    assert len(lines) == 1, lines
    assert "database.dsn_env_var: takes the name of an environment variable" in lines[0]
    assert "hunter2" not in lines[0]


def test_a_misspelt_key_is_not_also_called_missing():
    assert problems({"env": {"nmae": "x"}}) == ["env.nmae: unknown key; did you mean env.name?"]


def test_rules_can_be_left_out_for_an_incomplete_config():
    assert problems({}, rules=False) == []
    assert problems({"tasks": {"count": 0}}, rules=False) != []


def test_fingerprint_holds_exactly_what_is_not_excluded():
    made = config()
    kept = fingerprinted(made)
    assert set(kept) | set(EXCLUDED) == set(KEYS)
    assert not set(kept) & set(EXCLUDED)
    assert all(EXCLUDED.values())
    assert digest(made) == digest(from_dict(to_dict(made)))


def _other(value):
    if isinstance(value, bool) or value is None:
        return None
    return (
        value + 1
        if isinstance(value, int | float)
        else {"a": 1}
        if isinstance(value, dict)
        else f"{value}x"
    )


def _with(section, path, value):
    head, *rest = path
    return dataclasses.replace(
        section, **{head: _with(getattr(section, head), rest, value) if rest else value}
    )


@pytest.mark.parametrize("key", KEYS)
def test_each_key_moves_the_fingerprint_exactly_when_it_is_not_excluded(key):
    """A changed key changes the digest and shows in the difference, or is excluded and does
    neither.
    """
    before = from_dict({"env": {"path": "/w"}})
    value = _other(flat(to_dict(before))[key])
    value = {"tasks.families": ["x"], "tasks.splits": {"a": [0]}}.get(
        key, "x" if value is None else value
    )
    if key == "models":
        value = {"m": EndpointConfig(name="m")}
    after = _with(before, key.split("."), value)
    moved = key not in EXCLUDED
    assert (digest(before) != digest(after)) is moved
    assert [line.split(":")[0] for line in difference(before, after)] == ([key] if moved else [])


def test_difference_reads_as_a_sentence():
    assert difference(config(tasks={"count": 500}), config(tasks={"count": 600}, seed=1)) == [
        "seed: 0 -> 1",
        "tasks.count: 500 -> 600",
    ]


def test_integers_and_floats_of_one_value_are_one_fingerprint():
    """``temperature=1`` and ``temperature=1.0`` are the same config: the check makes both a
    float.
    """
    one, same = config(model={"temperature": 1}), config(model={"temperature": 1.0})
    assert digest(one) == digest(same)
    assert difference(one, same) == []


def test_every_key_of_the_dataclasses_is_listed():
    def leaves(section):
        inner = [getattr(section, entry.name) for entry in dataclasses.fields(section)]
        return sum(leaves(each) if dataclasses.is_dataclass(each) else 1 for each in inner)

    assert len(KEYS) == len(set(KEYS)) == leaves(RunConfig())


def test_an_unknown_kind_is_reported_beside_a_refused_override():
    """Such a config is incomplete, and only the rules about single values are asked."""
    (line,) = problems({"runtime": {"kind": "spark"}}, rules=False)
    assert line.startswith("runtime.kind: unknown runtime 'spark'")


def test_an_unknown_mistake_is_one_problem():
    [problem] = problems({**WORLD, "model": {"kind": "scripted", "mistakes": ["stray_writ"]}})
    assert problem.startswith("model.mistakes.0: must be wrong_argument or ")
    assert problem.endswith("or wrong_sql, not 'stray_writ'; did you mean stray_write?")
