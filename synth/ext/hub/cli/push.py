"""``synth push``: a sealed run as a dataset on the Hugging Face Hub, or a world."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

from envs.world.loader import load_world
from envs.world.world_file import read_world_file
from synth.core.cli.command import Arguments, command
from synth.core.dataset.upload import published_files
from synth.core.foundation.shipped import find_world
from synth.core.foundation.standard_output import say
from synth.core.screen.screen import safe_line
from synth.errors import OperatorError
from synth.ext.hub.card import write_card
from synth.ext.hub.contamination import benchmarks
from synth.ext.hub.facts import licences, read_facts
from synth.plugins import resolve

HELP = """synth push

Publish a sealed run as a dataset on the Hugging Face Hub ($HF_ENDPOINT, $HF_TOKEN), or a world,
which `synth run env=hf:org/name` plays. Secrets and
personal data are looked for first; licences must be declared. A push that was interrupted goes on
where it was.

arguments:
  DIR                 a run's directory, or a world's folder or name
  ORG/NAME            the dataset's name on the Hub
options:
  --license ID        of the data (default: card.license)
  --world-license ID  of the world
  --teacher-license ID  of the model's words
  --against FILE|FOLDER  a benchmark, of which the card counts the overlaps (repeatable)
  --private           make a new dataset private
  --personal-data-reviewed  publish although personal data was found: you have looked at it
  --dry-run           scan, write the card and list; no request is made
  --json              print JSON

examples:
  synth push out/ehr acme/ehr --license cc-by-4.0 --dry-run   scans, writes the card, sends nothing
  synth push out/ehr acme/ehr --license cc-by-4.0
  synth push my_world acme/my-world --license cc-by-4.0     proves it, writes its card, sends it
  synth push out/qwen acme/ehr-qwen --license cc-by-4.0 --teacher-license apache-2.0 --private
"""
_REPO = re.compile(r"[\w.-]+/[\w.-]+")
_SHOWN = 20


@command(HELP)
def main(options: Arguments) -> int:
    """Run the command; returns 0. Raises OperatorError for what must be mended first."""
    if _REPO.fullmatch(options.org_name) is None:
        raise OperatorError(f"{options.org_name!r} is not of the form organization/name")
    if not (options.dir / "manifest.json").exists() and not (options.dir / ".synth").exists():
        return _push_world(options)
    facts = read_facts(options.dir, benchmarks(options.against))
    declared = licences(facts, options.license, options.world_license, options.teacher_license)
    declared.require()
    findings = resolve("synth.ext.hub.scan:scan")(facts)
    _judge(findings, reviewed=options.personal_data_reviewed)
    write_card(facts, declared, options.org_name)
    files = published_files(options.dir)
    size = sum(file.stat().st_size for file in files.values())
    plan = {
        "repo": options.org_name,
        "files": list(files),
        "bytes": size,
        "licenses": {"data": declared.data, "world": declared.world, "teacher": declared.teacher},
        "personal_data": sorted({f"{one.kind}: {one.place}" for one in findings}),
    }
    if options.dry_run:
        _print(plan, f"dry run: {len(files)} files, {size / 1e6:,.1f} MB, would go to", options)
        return 0
    pushed = resolve("synth.ext.hub.repository:push")(
        files, options.org_name, private=options.private, say=_say
    )
    plan |= {"url": pushed.url, "uploaded": pushed.sent, "unchanged": pushed.unchanged}
    _print(plan, f"{pushed.sent} files sent, {pushed.unchanged} were there:", options)
    return 0


def _push_world(options: Arguments) -> int:
    worlds = "synth.ext.hub.worlds"
    world = load_world(find_world(str(options.dir)))
    license_id = options.license or read_world_file(world.path).license
    if license_id is None:
        raise OperatorError("name a licence: --license, or `license` in its world.yaml")
    report = resolve(f"{worlds}:prove")(world, reviewed=options.personal_data_reviewed)
    card = resolve(f"{worlds}:world_card")(world, report, options.org_name, license_id)
    plan: dict[str, Any] = {"repo": options.org_name, "world": world.name, "digest": world.digest}
    if options.dry_run:
        say(json.dumps(plan | {"card": card}, indent=2) if options.json else card)
        return 0
    pushed = resolve(f"{worlds}:push_world")(
        world, card, options.org_name, private=options.private, say=_say
    )
    plan |= {"url": pushed.url, "uploaded": pushed.sent, "unchanged": pushed.unchanged}
    said = f"{pushed.sent} files sent, {pushed.unchanged} were there: {pushed.url}"
    use = f"{said}\nnext: synth run env=hf:{options.org_name}"
    say(json.dumps(plan, indent=2) if options.json else use)
    return 0


def _judge(findings: list[Any], *, reviewed: bool) -> None:
    """Raise OperatorError for secrets, and for personal data that nobody has reviewed."""
    secrets = [finding for finding in findings if not finding.personal]
    stopping = secrets or ([] if reviewed else findings)
    if not stopping:
        return
    lines = [f"  {safe_line(one.place)}: {one.kind}" for one in stopping[:_SHOWN]]
    if len(stopping) > _SHOWN:
        lines.append(f"  and {len(stopping) - _SHOWN} more")
    advice = (
        "nothing is published with a secret in it: revoke it, and make the run again without it"
        if secrets
        else "nothing is published unread: look at these, then add --personal-data-reviewed"
    )
    raise OperatorError("\n".join([f"{len(stopping)} findings:", *lines, advice]))


def _print(plan: dict[str, Any], line: str, options: Arguments) -> None:
    if options.json:
        say(json.dumps(plan, indent=2))
        return
    say(f"{line} {plan.get('url') or options.org_name}")
    for what, licence in plan["licenses"].items():
        say(f"  licence of {what}: {licence}")
    say(f"  card: {options.dir / 'README.md'}")


def _say(line: str) -> None:
    print(line, file=sys.stderr)
