"""Overrides through Hydra: what works, what is refused and in which words, sweeps, secrets."""

import json
from pathlib import Path

import pytest
import yaml

from synth.config import from_dict, to_dict
from synth.core.config.compose import compose, print_config
from synth.errors import ConfigProblems

pytestmark = pytest.mark.slow


def one(*overrides, **options):
    (composed,) = compose(overrides, **options)
    return composed.config


def refused(*overrides, **options):
    with pytest.raises(ConfigProblems) as caught:
        compose(overrides, **options)
    return caught.value.problems


def test_no_override_is_the_small_job_without_a_key():
    config = one()
    assert (config.env.name, config.model.kind, config.runtime.kind) == (
        "ehr_db",
        "scripted",
        "auto",
    )


def test_the_overrides_of_the_readme_work():
    config = one(
        "env=ehr_db",
        "tasks.count=200",
        "tasks.samples=2",
        "seed=7",
        "output.dir=out/ehr",
        "runtime=inline",
    )
    assert (config.tasks.count, config.tasks.samples, config.seed) == (200, 2, 7)
    assert (config.output.dir, config.runtime.kind) == ("out/ehr", "inline")


def test_a_model_behind_an_endpoint():
    config = one(
        "model=openai",
        "model.name=Qwen/Qwen3-8B",
        "model.base_url=http://127.0.0.1:8000/v1",
        "model.api_key_env=null",
        "model.temperature=1",
        "model.max_tokens=512",
    )
    assert config.model.name == "Qwen/Qwen3-8B"
    assert config.model.api_key_env is None
    assert config.model.temperature == 1.0


@pytest.mark.parametrize(
    ("override", "body"),
    [
        ("model.extra_body={a:1,b:{c:[x,true]}}", {"a": 1, "b": {"c": ["x", True]}}),
        (
            "model.extra_body.chat_template_kwargs.enable_thinking=false",
            {"chat_template_kwargs": {"enable_thinking": False}},
        ),
        ("+model.extra_body.top_k=20", {"top_k": 20}),
        ("++model.extra_body.top_k=20", {"top_k": 20}),
        ('model.extra_body.stop=["</s>"]', {"stop": ["</s>"]}),
        (
            "model.extra_body="
            + json.dumps({"a-b": {"c": None}, "d": ["true", 'say "hi"\n\\', "x, y"], "e": 0.5}),
            {"a-b": {"c": None}, "d": ["true", 'say "hi"\n\\', "x, y"], "e": 0.5},
        ),
    ],
)
def test_keys_below_extra_body_are_free(override, body):
    """A plus sign makes no difference, and JSON is taken as it is."""
    assert one(override).model.extra_body == body


def test_a_plus_sign_is_never_needed_and_never_wrong():
    assert one("+tasks.count=5", "+experiment=smoke") == one("tasks.count=5", "experiment=smoke")


def test_families_as_a_list_and_as_one_name():
    assert one("tasks.families=[a,b]").tasks.families == ["a", "b"]
    assert one("tasks.families=a").tasks.families == ["a"]


def test_splits_are_given_as_a_whole_or_one_by_one():
    wanted = {"train": [0, 1, 2], "test": [3]}
    whole = one("tasks.universes=4", "tasks.splits={train:[0,1,2],test:[3]}")
    assert whole.tasks.splits == wanted
    assert list(whole.tasks.splits) == ["train", "test"]
    over = one("experiment=sft", "tasks.compose={2: 0.5}", "model.style={terse: 1.0}")
    assert to_dict(over)["tasks"]["compose"] == {"2": 0.5}
    assert over.model.style == {"terse": 1.0}
    assert (
        one("tasks.universes=4", "tasks.splits.train=[0,1,2]", "tasks.splits.test=3").tasks.splits
        == wanted
    )


@pytest.mark.parametrize(
    "path", ["/my world", "/data (old)/w", "/a=b", "/a(b)", "~/w", "../w", "/ü"]
)
def test_a_path_needs_no_quotes_beyond_the_shells(path):
    assert one(f"env.path={path}").env.path == str(Path(path).expanduser().absolute())


def test_a_url_with_a_query_needs_no_second_quotes():
    url = "https://host.example/v1?api-version=2026-01&x=y"
    assert one(f"model.base_url={url}").model.base_url == url


def test_env_path_replaces_the_default_world_but_not_a_named_one():
    assert one("env.path=/w").env.name is None
    assert one("env.path=null").env.name == "ehr_db"
    assert "which world?" in refused("env=ehr_db", "env.path=/w")[0]


def test_everything_wrong_is_said_at_once():
    """Syntax, unknown keys and choices, sweeps, Hydra's own keys, types and ranges, each in one
    line.
    """
    problems = refused(
        "a,b=c",
        "tasks",
        "tasks.cuont=5",
        "model=opnai",
        "database=postgresql",
        "output.dir=a,b",
        "hydra.run.dir=x",
        "hydra/launcher=joblib",
        "hydra.sweep.dir=x",
        "env@world=ehr_db",
        "~tasks.count",
        "model={name: x}",
        "model.temperature=hot",
        "tasks.count=0",
        "seed=",
        "budget=5",
    )
    expected = [
        "a,b=c: cannot be read",
        "tasks: an override is key=value",
        "tasks.cuont: unknown key; did you mean tasks.count?",
        "model=opnai: no such choice; did you mean openai? (there are: anthropic,",
        "database=postgresql: no such choice; did you mean postgres? (there are: attached,",
        (
            "output.dir=a,b: several values; to sweep over them add -m, for a list write"
            " 'output.dir=[a,b]'"
        ),
        "hydra.run.dir: of Hydra's own settings only hydra.searchpath is used here",
        "hydra/launcher: of Hydra's own settings only hydra.searchpath is used here; -m runs",
        "hydra.sweep.dir: of Hydra's own settings only hydra.searchpath is used here; -m runs",
        "env@world=ehr_db: packages (@)",
        "~tasks.count: a key cannot be taken away",
        "model={name: x}: takes one of: anthropic, openai,",
        "model.temperature: must be a number, not 'hot'",
        "tasks.count: must be more than 0, not 0",
        "seed: must be a whole number, not ''",
        "budget: must be a section",
    ]
    assert len(problems) == len(expected), problems
    for words in expected:
        assert any(line.startswith(words) for line in problems), words


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("database=attached", "needs the name of a variable that holds the URL"),
        ("database=attached database.connection.host=x", "described by its URL alone"),
        ("database=attached tasks.universes=2", "is universe 0"),
        ("database=attached tasks=bird tasks.path=asked", "tasks=questions asks the one"),
        ("tasks=questions tasks.path=asked", "asks a database that exists"),
    ],
)
def test_a_mistake_about_an_attached_database_is_named(line: str, words: str):
    url = [] if "variable" in words else ["database.dsn_env_var=THE_DB"]
    assert words in refused(*line.split(), *url)[0]


def test_a_folder_that_is_taken_for_a_name_is_named_with_its_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "velo").mkdir()
    assert refused("env=velo")[0].endswith("; a world of your own: env.path=velo)")
    assert refused("env=other")[0].endswith("; a world of your own: env.path=/path/to/world)")


def test_a_refused_override_leaves_no_false_complaint_behind():
    """With the world's choice misspelt, nothing is said about what only that choice would have
    decided.
    """
    assert len(refused("env=erh_db")) == 1
    assert len(refused("model=opnai", "budget.usd=3")) == 1


def test_a_name_shared_by_several_sections_finds_the_nearest():
    assert refused("temperature=1") == ["temperature: unknown key; did you mean model.temperature?"]


@pytest.mark.parametrize(
    "override",
    [
        "model.api_key=hunter2hunter2",
        "+model.api_key=hunter2hunter2",
        "api_key=hunter2hunter2",
        "model={api_key: hunter2hunter2}",
        "model.extra_body={headers:{Authorization:hunter2hunter2}}",
        'model.extra_body={"api_key": "hunter2hunter2"}',
        "model.api_key_env=hunter2-hunter2",
        "model.api_key_env=(hunter2hunter2,",
        "model.name=sk-hunter2hunter2hunter2",
        "model.base_url=https://me:hunter2hunter2@host/v1",
        "model.base_url='https://me:hunter2hunter2@host/v1",
        "modle.nmae=sk-hunter2hunter2hunter2",
        "model.api_key=hunter2,hunter2",
    ],
)
@pytest.mark.parametrize("multirun", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_secret_is_refused_and_not_repeated(override, multirun):
    problems = refused(override, multirun=multirun)
    assert "hunter2" not in "\n".join(problems)
    assert any("api_key_env" in line or "cannot be read" in line for line in problems)


def test_a_secret_of_the_environment_cannot_be_composed_in(monkeypatch):
    """Neither by interpolation, nor through a config of one's own, nor by its value."""
    monkeypatch.setenv("SOME_API_KEY", "correct-horse-battery-staple")
    problems = refused(
        "model.name=${oc.env:SOME_API_KEY}",
        "output.root=x/correct-horse-battery-staple",
        "model.extra_body.deep=[1,{x:${oc.env:SOME_API_KEY}}]",
        "runtime.address=${oc.env:OTHER_TOKEN,none}",
    )
    assert [line.split(":")[0] for line in problems] == [
        "model.name",
        "model.extra_body.deep.1.x",
        "runtime.address",
        "output.root",
    ]
    assert "correct-horse" not in "\n".join(problems)


def test_other_variables_and_keys_can_be_referred_to(monkeypatch):
    monkeypatch.setenv("SCRATCH_DISK", "/scratch")
    assert one("output.dir=${oc.env:SCRATCH_DISK}/${seed}", "seed=4").output.dir == "/scratch/4"


def test_a_reference_to_nothing_is_a_problem_of_its_key():
    problems = refused("output.dir=${oc.env:NO_SUCH_VARIABLE}", "output.root=${nothing.here}")
    assert [line.split(":")[0] for line in problems] == ["output.dir", "output.root"]


@pytest.fixture
def own(tmp_path):
    files = {
        "env/mine.yaml": "path: /my/world\n",
        "env/open.yaml": "name: ???\n",
        "env/slip.yaml": "nmae: x\n",
        "env/broken.yaml": "name: [1\nb: 2\n",
        "team/fast.yaml": "# @package _global_\nagent:\n  max_turns: 3\n",
        "experiment/lost.yaml": "# @package _global_\ndefaults:\n- override /model: nope\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_groups_of_ones_own(own):
    """A folder of configs adds choices to our groups, and groups of its own, by either door."""
    for config in (
        one(f"hydra.searchpath=[file://{own}]", "env=mine", "team=fast"),
        one(f"hydra.searchpath={own}", "env=mine", "+team=fast"),
        one("env=mine", "team=fast", config_dir=own),
    ):
        assert (config.env.name, config.env.path, config.agent.max_turns) == (None, "/my/world", 3)


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("env=open", "env.name: must be given"),
        ("env=slip", "env.nmae: unknown key; did you mean env.name?"),
        ("env=broken", "broken.yaml"),
        ("experiment=lost", "Could not find 'model/nope'"),
        ("env=nine", "did you mean mine?"),
    ],
)
def test_a_config_file_of_ones_own_that_is_wrong(own, override, words):
    problems = refused(override, config_dir=own)
    assert len(problems) == 1
    assert words in problems[0]


def test_folders_that_are_not_there(tmp_path):
    problems = refused(f"hydra.searchpath=[{tmp_path}/no]", config_dir=tmp_path / "nor_this")
    assert ["folder not found" in line for line in problems] == [True, True]
    assert "list of folders" in refused("hydra.searchpath=5")[0]


def test_a_sweep_is_multiplied_out_in_order():
    jobs = compose(
        ["seed=1,2,3", "model=scripted,openai", "model.name=x", "tasks.count=5"], multirun=True
    )
    assert [(job.config.seed, job.config.model.kind) for job in jobs] == [
        (seed, kind) for seed in (1, 2, 3) for kind in ("scripted", "openai")
    ]
    assert jobs[1].overrides == ("seed=1", "model=openai", "model.name=x", "tasks.count=5")
    assert jobs[1].directory == "1-seed-1-model-openai"


@pytest.mark.parametrize(
    ("override", "values"),
    [
        ("seed=range(1,4)", [1, 2, 3]),
        ("seed=choice(4,2)", [4, 2]),
        ("seed=${tasks.count},3", [64, 3]),
        ("model.temperature=range(0,1,0.5)", [0.0, 0.5]),
        ("model.name='a,b',c", ["a,b", "c"]),
        ("runtime=glob(*)", ["auto", "inline", "ray"]),
        ("runtime=glob(*,exclude=ray)", ["auto", "inline"]),
        ("tasks.families=[a,b],[c]", [["a", "b"], ["c"]]),
    ],
)
@pytest.mark.slow
def test_every_form_of_sweep(override, values):
    key = override.partition("=")[0]

    def value(config):
        node = config
        for part in key.split("."):
            node = getattr(node, part)
        return node.kind if key == "runtime" else node

    assert [value(job.config) for job in compose([override], multirun=True)] == values


def test_directories_of_a_sweep_are_safe_and_unique():
    """One component each, no way upwards, no key=value that a reader takes for a partition, not too
    long.
    """
    names = ["../../etc", "/etc/passwd", "a b", "ä", ".", "x" * 300, "x" * 301]
    jobs = compose(["model.name=" + ",".join(f"'{name}'" for name in names)], multirun=True)
    directories = [job.directory for job in jobs]
    assert len(set(directories)) == len(names)
    for directory in directories:
        assert len(directory) <= 80
        assert not set(directory) & set("/\\= ")
        assert ".." not in directory
        assert directory[0].isdigit()


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("tasks.count=range(4,4)", "holds no value"),
        ("tasks.count=range(1,9,0)", "must not be zero"),
        ("model.temperature=interval(0,1)", "an interval has no single values"),
        ("tasks.count=glob(*)", "tasks.count is none"),
        ("model=glob(z*)", "no choice matches"),
        ("model=scripted,opnai", "did you mean openai?"),
        ("model=range(1,3)", "takes one of"),
        ("seed=range(0,1000000000)", "more than 1000 jobs"),
        ("tasks.count=1,0", "more than 0, not 0"),
    ],
)
def test_a_sweep_that_cannot_be(override, words):
    problems = refused(override, multirun=True)
    assert len(problems) == 1, problems
    assert words in problems[0]


def test_a_swept_key_is_given_once():
    assert refused("seed=1,2", "seed=3", multirun=True) == ["seed: given 2 times, and swept over"]


def test_multirun_without_a_sweep_is_one_job_in_a_subdirectory():
    (job,) = compose(["seed=3"], multirun=True)
    assert job.directory == "0"


def test_jobs_of_a_sweep_never_share_a_directory():
    """One ``output.dir`` for all becomes a subdirectory each; a directory that differs anyhow is
    left as it was given.
    """
    shared = compose(["seed=1,2", "output.dir=out/s"], multirun=True)
    assert [job.config.output.dir for job in shared] == ["out/s/0-seed-1", "out/s/1-seed-2"]
    own = compose(["seed=1,2", "output.dir=out/${seed}"], multirun=True)
    assert [job.config.output.dir for job in own] == ["out/1", "out/2"]
    assert [job.config.output.dir for job in compose(["seed=1,2"], multirun=True)] == [None, None]


def test_print_config_is_the_config():
    (job,) = compose(["seed=3", "model.extra_body.x=ü"])
    assert from_dict(yaml.safe_load(print_config([job]))) == job.config
    assert print_config(compose(["seed=1,2"], multirun=True)).count("# ") == 2
