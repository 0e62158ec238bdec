"""A file beside the shards that says how the run went:
`synth run env=library 'extensions.hooks=[extensions.run_hook:Summary]'`.
"""

import json

from synth.hook import RunHook


class Summary(RunHook):
    def sealed(self, report, run, console):
        text = json.dumps({"world": run.world.name, "rows": report.totals.rows})
        (report.directory / "summary.json").write_text(text)
        console.print(f"summary: {report.directory / 'summary.json'}")
        return report
