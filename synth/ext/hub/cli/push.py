"""``synth push``: a sealed run as a dataset on the Hugging Face Hub."""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

from synth.core.foundation.standard_output import say
from synth.core.report.screen import safe_line
from synth.errors import OperatorError
from synth.ext.evaluation.cli.against import add_against
from synth.ext.hub.card import write_card
from synth.ext.hub.facts import licences, read_facts
from synth.plugins import find_module, resolve

_EXAMPLES = """\
examples:
  synth push out/ehr acme/ehr --license cc-by-4.0 --dry-run   scans, writes the card, sends nothing
  synth push out/ehr acme/ehr --license cc-by-4.0
  synth push out/qwen acme/ehr-qwen --license cc-by-4.0 --teacher-license apache-2.0 --private
"""
_REPO = re.compile(r"[\w.-]+/[\w.-]+")
_SHOWN = 20


def main(argv: list[str]) -> int:
    """Run the command; returns 0. Raises OperatorError for what must be mended first."""
    options = make_parser().parse_args(argv)
    if _REPO.fullmatch(options.repo) is None:
        raise OperatorError(f"{options.repo!r} is not of the form organization/name")
    require_hub()
    facts = read_facts(options.path, options.against)
    declared = licences(facts, options.license, options.world_license, options.teacher_license)
    declared.require()
    findings = resolve("synth.ext.hub.scan:scan")(facts)
    _judge(findings, reviewed=options.personal_data_reviewed)
    write_card(facts, declared, options.repo)
    files = resolve("synth.ext.hub.push:published_files")(options.path)
    size = sum(file.stat().st_size for file in files)
    plan = {
        "repo": options.repo,
        "files": [file.relative_to(options.path).as_posix() for file in files],
        "bytes": size,
        "licenses": {
            "data": declared.data,
            "world": declared.world,
            "teacher": declared.teacher,
        },
        "personal_data": sorted({f"{one.kind}: {one.place}" for one in findings}),
    }
    if options.dry_run:
        _print(plan, f"dry run: {len(files)} files, {size / 1e6:,.1f} MB, would go to", options)
        return 0
    pushed = resolve("synth.ext.hub.push:push")(
        options.path, options.repo, private=options.private, say=_say
    )
    plan |= {"url": pushed.url, "uploaded": pushed.uploaded, "unchanged": pushed.unchanged}
    _print(plan, f"{pushed.uploaded} files sent, {pushed.unchanged} were there:", options)
    return 0


def require_hub() -> None:
    """Raise OperatorError where the packages of the extra `hf` are missing."""
    if find_module("huggingface_hub") is None or find_module("detect_secrets") is None:
        raise OperatorError("the Hub needs its packages: pip install 'synth-worlds[hf]'")


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


def _print(plan: dict[str, Any], line: str, options: argparse.Namespace) -> None:
    if options.json:
        say(json.dumps(plan, indent=2))
        return
    say(f"{line} {plan.get('url') or options.repo}")
    for what, licence in plan["licenses"].items():
        say(f"  licence of {what}: {licence}")
    say(f"  card: {options.path / 'README.md'}")


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def make_parser() -> argparse.ArgumentParser:
    """The options of the command."""
    parser = argparse.ArgumentParser(
        prog="synth push",
        description="Publish a sealed run as a dataset on the Hugging Face Hub ($HF_ENDPOINT,"
        " $HF_TOKEN). Secrets and personal data are looked for first; licences must be declared."
        " A push that was interrupted goes on where it was.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("path", type=Path, metavar="DIR", help="a run's directory")
    parser.add_argument("repo", metavar="ORG/NAME", help="the dataset's name on the Hub")
    parser.add_argument("--license", metavar="ID", help="of the data (default: card.license)")
    parser.add_argument("--world-license", metavar="ID", help="of the world")
    parser.add_argument("--teacher-license", metavar="ID", help="of the model's words")
    add_against(parser, "the card says how many rows overlap with them")
    parser.add_argument("--private", action="store_true", help="make a new dataset private")
    parser.add_argument(
        "--personal-data-reviewed",
        action="store_true",
        help="publish although personal data was found: you have looked at it",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="scan, write the card and list; no request is made"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser
